import { and, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm'
import { handler } from '#platform/bus/serve'
import type { Database } from '#platform/db/open'
import { refOf } from '#shared/chain/ref'
import { bookedAgain } from '#shared/ledger/corrections'
import {
  PaymentsStatement,
  type StatementChange,
  type StatementEntry,
  statementItemsMax,
} from '#shared/messages/statement'
import { ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { reversalItem } from '../ledger/book'
import { refIdOf, shownFee } from '../payment'
import { payments } from '../payment.table'
import { journal } from '../schema.store'

type Period = { readonly wallet: `0x${string}`; readonly from: string; readonly to: string }

/**
 * Returns the postings of a wallet to the account `promises`, which has the money in flight. A payment that
 * covered an earlier loss moves only `clawback`; it is listed, too.
 */
export const answerStatement = ({ database }: Pick<Context, 'database'>) =>
  handler(PaymentsStatement, async (period) => {
    const booked = await findBooked(database, period)
    const moved = booked.filter(({ at }) => at !== null)
    if (moved.length > statementItemsMax) return refuse('statement_too_long')
    const openingMicro = booked.reduce((sum, { opening }) => sum + BigInt(opening), 0n)
    return ok({ opening: { inFlight: String(openingMicro) }, items: moved.map(entryOf) })
  })

function findBooked(database: Database, { wallet, from, to }: Period) {
  const { account, amount, bookedAt } = journal
  const isWithin = sql`${bookedAt} >= ${from}::timestamptz`
  // A correction of the books that moves nothing is no step of its payment.
  const isCorrection = sql`(${journal.reverses} is not null or ${journal.event} = ${bookedAgain})`
  const sum = (when: typeof isWithin) =>
    sql<string>`coalesce(sum(-${amount}) filter (where ${account} = 'promises' and ${when}), 0)::text`
  const { id, kind, pair, fiatMinor, feeMinor, refundedMinor, ausdMicro, refSequence } = payments
  return database.read((db) =>
    db
      .select({
        id,
        kind,
        pair,
        fiatMinor,
        feeMinor,
        refundedMinor,
        ausdMicro,
        refSequence,
        at: sql<string | null>`case when ${sum(isWithin)} = '0'
          then max(${bookedAt}) filter (where ${isWithin} and not ${isCorrection})
          else max(${bookedAt}) filter (where ${isWithin}) end`,
        opening: sum(sql`not ${isWithin}`),
        moved: sum(isWithin),
      })
      .from(payments)
      .innerJoin(journal, sql`${journal.item} in (${id}, ${id} || ${reversalItem({ paymentId: '' })})`)
      .where(
        and(
          eq(payments.wallet, wallet),
          isNotNull(payments.providerPaymentId),
          inArray(account, ['promises', 'clawback']),
          eq(journal.asset, 'AUSD'),
          lt(bookedAt, sql`${to}::timestamptz`),
        ),
      )
      .groupBy(id),
  )
}

type BookedStep = Awaited<ReturnType<typeof findBooked>>[number]

function entryOf(payment: BookedStep): StatementEntry {
  const { id, kind, pair, fiatMinor, ausdMicro, refSequence, at } = payment
  const moved = BigInt(payment.moved)
  const change = (micro: bigint): StatementChange => (micro > 0n ? { inFlight: String(micro) } : {})
  return {
    at: new Date(at!).toISOString(),
    kind,
    id,
    pair,
    fiat: String(fiatMinor),
    ...shownFee(payment),
    ausd: String(ausdMicro),
    in: change(moved),
    out: change(-moved),
    refs: Array.from({ length: refSequence + 1 }, (_, sequence) => refOf(refIdOf({ id, refSequence: sequence }))),
  }
}
