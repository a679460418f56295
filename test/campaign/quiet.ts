import pMap from 'p-map'
import type { Person } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#shared/deadline'
import type { Entry, Verdict } from './evidence'

/** Where an item may be when nothing is on its way: the audit says whether it should be. */
const resting = new Set([
  ...['credited', 'repaid', 'replaced', 'expired', 'revoked', 'refunded', 'review', 'accepted'],
  ...['awaiting_payment', 'paid', 'returned', 'failed', 'sent'],
])
/** Of a payment `paid` is not the end. */
const isOpen = ({ kind, status }: Entry) =>
  !resting.has(status) || (kind !== 'cashout' && status === 'paid')

/** So many of those that ended last are named. */
const lastMax = 5
const listsAtOnce = 8
const lookEveryMs = 1_000

/**
 * Waits until nobody has anything on its way, and judges; answers the verdict, and what came last.
 * Money may be on its way though no list shows it: of a payment whose webhook was lost, or of a refund,
 * the service hears when it next asks. So as long as something is found all of it is looked at again,
 * until for `quietMaxMs` nothing has come to its end: what is lost or doubled then stays so. A busy
 * machine may take long for what piled up in an hour of faults.
 */
export async function quietly(
  everybody: readonly Person[],
  judge: (entries: Entry[]) => Promise<Verdict>,
  quietMaxMs: number,
): Promise<{ verdict: Verdict; last: { words: string; afterMs: number }[] }> {
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
    // Only whoever had something on its way is asked again.
    let waiting = everybody
    const look = async () => {
      const lists = await pMap(waiting, entriesOf, { concurrency: listsAtOnce })
      const afterMs = performance.now() - startedAt
      const owns = lists.map((entries) => entries.filter(isOpen))
      for (const { id, kind, status } of owns.flat())
        open.set(id, { words: `${kind} ${id} was ${status}`, afterMs })
      waiting = waiting.filter((_, at) => owns[at]!.length > 0)
      noteLeft(owns.flat().length)
      return waiting.length === 0
    }
    // The audit names each that has no end.
    while (leftMs() > 0 && !(await look().catch(() => false))) await pause(lookEveryMs)
    const reading = (person: Person) => waitUntil("somebody's list", () => entriesOf(person))
    const lists = await pMap(everybody, reading, { concurrency: listsAtOnce })
    const verdict = await judge(lists.flat())
    if (verdict.findings.length === 0 || leftMs() <= 0) {
      const last = [...open.values()].sort((left, right) => right.afterMs - left.afterMs)
      return { verdict, last: last.slice(0, lastMax) }
    }
    await pause(lookEveryMs)
  }
}

async function entriesOf(person: Person): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor = ''; ; ) {
    const path = `/me/activity?limit=100${cursor && `&cursor=${cursor}`}`
    const { status, body } = await person.get(path)
    if (status !== 200) throw new Error(`/me/activity answers ${status}`)
    const { wallet } = person
    for (const { id, kind, status } of body.items) entries.push({ id, kind, status, wallet })
    if (!body.nextCursor) return entries
    cursor = body.nextCursor
  }
}
