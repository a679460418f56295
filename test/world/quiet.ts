import pMap from 'p-map'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { activityOf } from '../support/requests'
import type { Entry, Verdict } from './evidence'

/** Statuses that are not pending; the audit decides whether they are right. */
const resting = new Set([
  'credited',
  'repaid',
  'replaced',
  'expired',
  'revoked',
  'refunded',
  'review',
  'accepted',
  'awaiting_payment',
  'paid',
  'returned',
  'failed',
  'needless',
  'sent',
])
/** Returns true if an item is pending; `paid` is final for cash-outs only. */
const isOpen = ({ kind, status }: Entry) => !resting.has(status) || (kind !== 'cashout' && status === 'paid')

const lastMax = 5
const listsAtOnce = 8
const lookEveryMs = 1_000

/**
 * Waits until no item is pending, then audits. Money may move without a pending item, until the next poll. So the audit
 * is repeated while it has findings, until nothing has completed for `quietMaxMs`.
 */
export async function quietly(
  everybody: readonly Person[],
  judge: (entries: Entry[]) => Promise<Verdict>,
  quietMaxMs: number,
): Promise<{ entries: Entry[]; last: { words: string; afterMs: number }[] }> {
  const startedAt = performance.now()
  let movedAt = startedAt
  let least = Number.POSITIVE_INFINITY
  const leftMs = () => movedAt + quietMaxMs - performance.now()
  const noteLeft = (left: number) => {
    if (left < least) movedAt = performance.now()
    least = Math.min(least, left)
  }
  const open = new Map<string, { words: string; afterMs: number }>()
  for (;;) {
    // Only users with pending items are polled.
    let waiting = everybody
    const look = async () => {
      const lists = await pMap(waiting, entriesOf, { concurrency: listsAtOnce })
      const afterMs = performance.now() - startedAt
      const owns = lists.map((entries) => entries.filter(isOpen))
      for (const { id, kind, status } of owns.flat()) open.set(id, { words: `${kind} ${id} was ${status}`, afterMs })
      waiting = waiting.filter((_, at) => owns[at]!.length > 0)
      noteLeft(owns.flat().length)
      return waiting.length === 0
    }
    while (leftMs() > 0 && !(await look().catch(() => false))) await pause(lookEveryMs)
    const reading = (person: Person) => waitUntil("a user's activity", () => entriesOf(person))
    const lists = await pMap(everybody, reading, { concurrency: listsAtOnce })
    const entries = lists.flat()
    const { findings } = await judge(entries)
    if (findings.length === 0 || leftMs() <= 0) {
      const last = [...open.values()].sort((left, right) => right.afterMs - left.afterMs)
      return { entries, last: last.slice(0, lastMax) }
    }
    await pause(lookEveryMs)
  }
}

export const entriesOf = async (person: Person): Promise<Entry[]> =>
  (await activityOf(person)).map((entry) => ({ ...entry, wallet: person.wallet }))
