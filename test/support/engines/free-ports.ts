import type { Child } from '#infra/local/child'
import { diedOfItsPort, PortTaken } from '#infra/local/ports'

export { freePort } from '#infra/local/ports'

/** Starts an engine, with other ports if one was taken. */
export async function onFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 4) throw error
    }
  }
}

export async function answering(
  { child, name, logFile }: { child: Child; name: string; logFile: string },
  answers: Promise<unknown>,
): Promise<void> {
  const ended = child.exited.then((how) => {
    throw diedOfItsPort(logFile) ? new PortTaken(name) : new Error(`${name} ended: ${how}`)
  })
  await Promise.race([answers, ended])
}
