import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { pollPauseMs, waitUntil } from '#infra/local/wait'
import { type HandlingContext, handle, type IncomingMessage } from '#platform/bus/handling'
import { pause } from '#platform/deadline'

export { waitUntil }

/** A busy machine delays the stop. */
export async function suspend(...pids: number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const hasStopped = (pid: number) => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  await waitUntil('the processes having stopped', () => pids.every(hasStopped), 60_000, 2)
}

/** Repeats until done, as JetStream does. */
export const handleUntilDone = (context: HandlingContext, message: IncomingMessage) =>
  waitUntil(
    `${message.subject} being done`,
    async () => (await handle(context, message)) === 'done',
  )

/** Repeats a request whose lock timed out, as an app repeats one after a 503. */
export async function untilUnlocked<T>(ask: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  const givesUpAt = Date.now() + deadlineMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03' || Date.now() > givesUpAt) throw error
    }
  }
}

/** Fails with the difference. */
export async function becomes(
  read: () => Promise<unknown>,
  expected: unknown,
  deadlineMs = 60_000,
) {
  const beganAt = Date.now()
  for (;;) {
    try {
      expect(await read()).toEqual(expected)
      return
    } catch (difference) {
      const waitedMs = Date.now() - beganAt
      if (waitedMs > deadlineMs) throw difference
      await pause(pollPauseMs(waitedMs))
    }
  }
}
