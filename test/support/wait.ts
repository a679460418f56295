import { expect } from 'bun:test'
import { patienceMs, pollPauseMs, waitUntil } from '#infra/local/wait'
import { type HandlingContext, handle, type IncomingMessage } from '#platform/bus/handling'
import { DeadlinePassed, pause } from '#platform/deadline'
import { about, childrenOf, hasEnded, signalAll, withChildren } from './processes'

export { patienceMs, waitUntil }

/** Stops processes and their children, which a busy machine delays. */
export async function suspend(...pids: number[]): Promise<void> {
  const stopped = async (some: readonly number[]) => {
    signalAll(some, 'SIGSTOP')
    const rests = (pid: number) => hasEnded(pid) || /\) T /.test(about(pid, 'stat'))
    await waitUntil('the processes having stopped', () => some.every(rests), patienceMs, 2)
  }
  await stopped(pids) // Stopped processes start no more children.
  await stopped(pids.flatMap(childrenOf))
}

export const resume = (...pids: number[]): void => signalAll(withChildren(pids), 'SIGCONT')

/** Handles a message repeatedly until it is done, as JetStream does. */
export const handleUntilDone = (context: HandlingContext, message: IncomingMessage) =>
  waitUntil(`${message.subject} being done`, async () => (await handle(context, message)) === 'done')

/** Repeats a request that timed out, at a lock or at the database, as an app repeats one after a 503. */
export async function untilAnswered<T>(ask: () => Promise<T>, deadlineMs = patienceMs): Promise<T> {
  const givesUpAt = performance.now() + deadlineMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const isLate = error instanceof DeadlinePassed || (error as { code?: string }).code === '55P03'
      if (!isLate || performance.now() > givesUpAt) throw error
    }
  }
}

/** Waits for a value. Fails with the difference at the deadline. */
export async function becomes(read: () => Promise<unknown>, expected: unknown, deadlineMs = patienceMs) {
  const beganAt = performance.now()
  for (;;) {
    try {
      expect(await read()).toEqual(expected)
      return
    } catch (difference) {
      const waitedMs = performance.now() - beganAt
      if (waitedMs > deadlineMs) throw difference
      await pause(pollPauseMs(waitedMs))
    }
  }
}
