import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'
import { StartFault } from '#infra/local/start/faults'
import { answers } from '#infra/local/start/running'
import { pause } from '#platform/deadline'

/** Time without a gateway after which the stack counts as gone. A gateway that died is restarted sooner. */
const silentMaxMs = 8_000
const everyMs = 500

const gone = (how: string) =>
  new StartFault(`the stack is gone: ${how}`, `Start one with \`${bunRun} start\`, then run the demo again.`)

function assertThere(dir: string): void {
  try {
    readStackFile(dir)
  } catch {
    throw gone(`it no longer runs in ${dir}`)
  }
}

async function untilGone(stack: StackFile, dir: string, signal: AbortSignal): Promise<void> {
  let answeredAt = performance.now()
  while (!signal.aborted) {
    assertThere(dir)
    if (await answers(stack)) answeredAt = performance.now()
    else if (performance.now() - answeredAt > silentMaxMs) throw gone(`${stack.gateway} no longer responds`)
    await pause(everyMs, signal)
  }
}

/** Runs `work`. Throws within seconds once the stack is gone, instead of waiting for timeouts. */
export async function watchStack<T>(stack: StackFile, dir: string, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const never = new Promise<never>(() => {})
  try {
    const watched = untilGone(stack, dir, over.signal).then(() => never)
    return await Promise.race([work(), watched])
  } catch (error) {
    assertThere(dir) // If the stack is gone, that is the cause of any other error.
    throw error
  } finally {
    over.abort()
  }
}
