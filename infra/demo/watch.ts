import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { StartFault } from '#infra/local/start/faults'
import { answers } from '#infra/local/start/running'
import { pause } from '#shared/deadline'

/** A gateway that died is started again sooner. */
const silentMaxMs = 8_000
const everyMs = 500

const gone = (how: string) =>
  new StartFault(`the stack is gone: ${how}`, 'Start one with `bun run start`, then play it again.')

/** Throws as soon as no stack is described in the folder any more: it was ended, or its process was killed. */
function assertThere(dir: string): void {
  try {
    readStackFile(dir)
  } catch {
    throw gone(`none runs in ${dir} any more`)
  }
}

async function untilGone(stack: StackFile, dir: string, signal: AbortSignal): Promise<void> {
  let answeredAt = Date.now()
  while (!signal.aborted) {
    assertThere(dir)
    if (await answers(stack)) answeredAt = Date.now()
    else if (Date.now() - answeredAt > silentMaxMs)
      throw gone(`${stack.gateway} does not answer any more`)
    await pause(everyMs, signal)
  }
}

/** Does what needs a stack, and throws within seconds when that is gone: nothing would answer for minutes. */
export async function whileThere<T>(
  stack: StackFile,
  dir: string,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const never = new Promise<never>(() => {})
  try {
    const watched = untilGone(stack, dir, over.signal).then(() => never)
    return await Promise.race([work(), watched])
  } catch (error) {
    assertThere(dir) // Whatever else failed, failed for that.
    throw error
  } finally {
    over.abort()
  }
}
