import { and, eq, inArray, lt, sql } from 'drizzle-orm'
import { type Handler, handler } from '#platform/bus/serve'
import type { Database } from '#platform/db/open'
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
 * Answers with the cash-outs of a wallet, as the journal has them: the accounts `payouts`, rupiah owed to
 * the bank account, and `returns`, AUSD owed to the wallet.
 */
export const answerStatement = ({ database }: Pick<Context, 'database'>): Handler =>
  handler(PayoutsStatement, async (period) => {
    const booked = await findBooked(database, period)
    const moved = booked.filter(({ at }) => at !== null)
    if (moved.length > statementItemsMax) return refuse('statement_too_long')
    const total = (pick: (one: Booked) => string) =>
      String(booked.reduce((sum, one) => sum + BigInt(pick(one)), 0n))
    return ok({
      opening: {
        inFlight: total(({ openingReturns }) => openingReturns),
        payouts: total(({ openingPayouts }) => openingPayouts),
      },
      items: moved.map(entryOf),
    })
  })

/** Sums each cash-out's postings before and within the period. */
function findBooked(database: Database, { wallet, from, to }: Period) {
  const { account, amount, bookedAt } = journal
  const isWithin = sql`${bookedAt} >= ${from}::timestamptz`
  const sum = (of: 'payouts' | 'returns', when: typeof isWithin) =>
    sql<string>`coalesce(sum(-${amount}) filter (where ${account} = ${of} and ${when}), 0)::text`
  const { id, fiatMinor, ausdMicro, takeTxHash, returnTxHash } = cashouts
  return database.read((db) =>
    db
      .select({
        ...{ id, fiatMinor, ausdMicro, takeTxHash, returnTxHash },
        at: sql<string | null>`max(${bookedAt}) filter (where ${isWithin})`,
        openingPayouts: sum('payouts', sql`not ${isWithin}`),
        openingReturns: sum('returns', sql`not ${isWithin}`),
        payouts: sum('payouts', isWithin),
        returns: sum('returns', isWithin),
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
      .groupBy(id),
  )
}

type Booked = Awaited<ReturnType<typeof findBooked>>[number]

function entryOf(cashout: Booked): StatementEntry {
  const { id, fiatMinor, ausdMicro, at } = cashout
  const txHash = cashout.returnTxHash ?? cashout.takeTxHash
  const changes = (sign: bigint): StatementChange => ({
    ...positive('inFlight', sign * BigInt(cashout.returns)),
    ...positive('payouts', sign * BigInt(cashout.payouts)),
  })
  return {
    ...{ at: new Date(at!).toISOString(), kind: 'cashout', id, pair: 'USD/IDR' },
    ...{ fiat: String(fiatMinor), ausd: String(ausdMicro) },
    ...(txHash ? { txHash: txHash as `0x${string}` } : {}),
    ...{ in: changes(1n), out: changes(-1n), refs: [] },
  }
}

const positive = (name: 'inFlight' | 'payouts', amount: bigint): StatementChange =>
  amount > 0n ? { [name]: String(amount) } : {}
