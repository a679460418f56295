import { and, eq, inArray, lt, sql } from 'drizzle-orm'
import { type Handler, handler } from '#platform/bus/serve'
import type { Database } from '#platform/db/open'
import { withoutCorrections } from '#shared/ledger/corrections'
import {
  PayoutsStatement,
  type StatementChange,
  type StatementEntry,
  statementItemsMax,
} from '#shared/messages/statement'
import { ok, refuse } from '#shared/refusals'
import { cashouts } from '../cashout.table'
import type { Context } from '../context'
import { journal } from '../schema.store'

type Period = { readonly wallet: `0x${string}`; readonly from: string; readonly to: string }

/**
 * Returns the steps of a wallet's cash-outs, as the journal has them, on two accounts: `payouts` for rupiah
 * owed to the bank account, and `returns` for AUSD owed to the wallet. Corrections of the books are no steps.
 */
export const answerStatement = ({ database }: Pick<Context, 'database'>): Handler =>
  handler(PayoutsStatement, async (period) => {
    const booked = await findBooked(database, period)
    const before = booked.filter(({ posting }) => posting === null)
    const steps = booked.flatMap(({ posting, ...step }) => (posting === null ? [] : [{ ...step, posting }]))
    const within = [...Map.groupBy(steps, ({ id }) => id).values()]
      .flatMap((own) => withoutCorrections(own, isOpposite))
      .toSorted((left, right) => left.at.getTime() - right.at.getTime())
    if (within.length > statementItemsMax) return refuse('statement_too_long')
    const total = (pick: (one: BookedStep) => string) =>
      String(before.reduce((sum, one) => sum + BigInt(pick(one)), 0n))
    return ok({
      opening: {
        inFlight: total(({ returns }) => returns),
        payouts: total(({ payouts }) => payouts),
      },
      items: within.map(entryOf),
    })
  })

/** Sums each posting of the period, and under the posting null each cash-out's postings before the period. */
function findBooked(database: Database, { wallet, from, to }: Period) {
  const { account, amount, bookedAt } = journal
  const posting = sql<string | null>`case when ${bookedAt} >= ${from}::timestamptz then ${journal.posting} end`
  const at = sql`max(${bookedAt})`.mapWith(bookedAt)
  const sum = (of: 'payouts' | 'returns') =>
    sql<string>`coalesce(sum(-${amount}) filter (where ${account} = ${of}), 0)::text`
  const { id, fiatMinor, feeMinor, ausdMicro, takeTxHash, returnTxHash } = cashouts
  return database.read((db) =>
    db
      .select({
        id,
        fiatMinor,
        feeMinor,
        ausdMicro,
        takeTxHash,
        returnTxHash,
        posting: posting.as('step'),
        event: sql<string>`min(${journal.event})`,
        reverses: sql<string | null>`min(${journal.reverses})`,
        at,
        payouts: sum('payouts'),
        returns: sum('returns'),
      })
      .from(cashouts)
      .innerJoin(journal, eq(journal.item, id))
      .where(
        and(
          eq(cashouts.wallet, wallet),
          inArray(account, ['payouts', 'returns']),
          lt(bookedAt, sql`${to}::timestamptz`),
        ),
      )
      .groupBy(id, sql`step`)
      .orderBy(at),
  )
}

const isOpposite = (one: BookedStep, other: BookedStep): boolean =>
  BigInt(one.payouts) === -BigInt(other.payouts) && BigInt(one.returns) === -BigInt(other.returns)

type BookedStep = Omit<Awaited<ReturnType<typeof findBooked>>[number], 'posting'>

function entryOf(step: BookedStep): StatementEntry {
  const { id, fiatMinor, feeMinor, ausdMicro, at } = step
  const [payouts, returns] = [BigInt(step.payouts), BigInt(step.returns)]
  const [kind, txHash] = stepOf(step, payouts, returns)
  const changes = (sign: bigint): StatementChange => ({
    ...positive('inFlight', sign * returns),
    ...positive('payouts', sign * payouts),
  })
  return {
    at: at.toISOString(),
    kind,
    id,
    pair: 'USD/IDR',
    fiat: String(fiatMinor),
    // AUSD that goes back costs nothing.
    ...(feeMinor > 0n && returns === 0n ? { fee: String(feeMinor) } : {}),
    ausd: String(ausdMicro),
    ...(txHash ? { txHash: txHash as `0x${string}` } : {}),
    in: changes(1n),
    out: changes(-1n),
    refs: [],
  }
}

/** Returns the kind of a step and its transaction, by the change of the debt to the bank account or the wallet. */
function stepOf(
  { takeTxHash, returnTxHash }: BookedStep,
  payouts: bigint,
  returns: bigint,
): [StatementEntry['kind'], string | null] {
  if (returns > 0n) return ['cashout_returning', null]
  if (returns < 0n) return ['cashout_returned', returnTxHash]
  return payouts > 0n ? ['cashout', takeTxHash] : ['cashout_paid', null]
}

const positive = (name: 'inFlight' | 'payouts', amount: bigint): StatementChange =>
  amount > 0n ? { [name]: String(amount) } : {}
