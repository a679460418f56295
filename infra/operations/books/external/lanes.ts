import { sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import { pause } from '#platform/deadline'
import { book } from '#shared/ledger/journal.store'
import { position } from '#shared/ledger/position'
import type { BooksContext } from '../context'
import { journal } from '../schema.store'
import { findBalance, recordBalance } from './balance.store'
import type { LaneReading } from './chain-balances'
import { withJournal } from './journal.store'

/** The relayer finalizes a transaction shortly after its block is final, so a lane is tried this often. */
const triesMax = 5
const betweenMs = 1_000

/**
 * Books the difference between the lanes' coin and the journal. Surplus coin is capital, because only the operator
 * funds lanes; missing coin goes to suspense, for manual review.
 */
export async function bookLanes({ database }: BooksContext, readings: readonly LaneReading[]): Promise<void> {
  let left = readings
  for (let tries = 0; left.length > 0 && tries < triesMax; tries++) {
    if (tries > 0) await pause(betweenMs)
    const behind: LaneReading[] = []
    for (const reading of left) if (!(await withJournal(database, (tx) => bookLane(tx, reading)))) behind.push(reading)
    left = behind
  }
}

/** Books one lane. Returns false while the relayer has not booked up to the reading. */
async function bookLane(tx: Tx, reading: LaneReading): Promise<boolean> {
  const { lane, block, wei, nonce, readAt } = reading
  const place = `lane:${lane}`
  const before = await findBalance(tx, place)
  if (before?.block && before.block >= block) return true
  const paid = await paidBy(tx, lane, { from: before?.nonce ?? 0, to: nonce })
  if (paid === undefined) return false
  const putInWei = wei - (before?.amount ?? 0n) + paid
  const isMore = putInWei > 0n
  await book(tx, journal, {
    event: isMore ? 'coin put in' : 'coin gone',
    item: place,
    lines: position([
      { account: 'lanes', asset: 'MON', amount: putInWei },
      { account: isMore ? 'capital' : 'suspense', asset: 'MON', amount: -putInWei },
    ]),
  })
  await recordBalance(tx, { place, asset: 'MON', amount: wei, block, nonce, readAt })
  return true
}

/**
 * Returns the booked costs, in wei, of the nonces in [from, to). Returns undefined until all of them are finalized, or
 * if the lane sent transactions that the relayer does not know.
 */
async function paidBy(tx: Tx, lane: string, { from, to }: { from: number; to: number }): Promise<bigint | undefined> {
  const [row] = await tx.execute<{ open: number; next: number; wei: string }>(sql`
    select
      (select count(*)::int from chain_relayer.transaction
        where lane = ${lane} and nonce >= ${from} and nonce < ${to} and outcome is null) as open,
      (select next_nonce from chain_relayer.lane where address = ${lane}) as next,
      (select coalesce(-sum(j.amount), 0)::text from chain_relayer.transaction t
        join chain_relayer.journal j on j.item = t.lane || ':' || t.nonce
        where t.lane = ${lane} and t.nonce >= ${from} and t.nonce < ${to}
          and j.account = 'lanes') as wei`)
  return row && row.open === 0 && row.next >= to ? BigInt(row.wei) : undefined
}
