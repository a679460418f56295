import { type Handler, handler } from '#platform/bus/serve'
import { countDead } from '#platform/db/dead-letter.store'
import { outboxLag } from '#platform/db/outbox.store'
import { agesOf } from '#platform/metrics/state-limits'
import type { ActivityEntry, PaidAccount } from '#shared/messages/activity'
import { AccountEnding, PayoutsActivity, PayoutsItem, PayoutsOwed } from '#shared/messages/payouts'
import { listingAgeMs } from '#shared/provider/listing.store'
import { ok } from '#shared/refusals'
import { inFlightStates, limits, type ShownState, shownFee, wordsFor } from '../cashout'
import { listCashouts } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { countAnomalies, deadLetters, listings, outbox } from '../schema.store'
import { coverFigures } from '../treasury/balance'
import { sumPromisedAusd } from '../treasury/promise.store'
import { countStates, findListed, listActivity, oldestCashouts } from './activity.store'

/** Returns a page of a wallet's cash-outs, and all that are in progress. */
export const answerActivity = (context: Context): Handler =>
  handler(PayoutsActivity, async (asked) => {
    const { page, open } = await listActivity(context.database, asked)
    const entries = (rows: Cashout[]) => rows.map((row) => entryOf(context, row))
    return ok({ items: entries(page), inFlight: entries(open) })
  })

/** Returns one cash-out of a wallet, in the form of its activity. */
export const answerItem = (context: Context): Handler =>
  handler(PayoutsItem, async (asked) => {
    const row = await findListed(context.database, asked)
    return ok({ item: row ? entryOf(context, row) : null })
  })

/** Returns the treasury AUSD owed to cash-outs. */
export const answerOwed = ({ database }: Context): Handler =>
  handler(PayoutsOwed, async ({ since }) => {
    const micro = await database.read((db) => sumPromisedAusd(db, new Date(since)))
    return ok({ ausd: micro.toString() })
  })

/** Tells operators which cash-outs go to a bank account whose number ends so. No number leaves this service. */
export const answerEnding = (context: Context): Handler =>
  handler(AccountEnding, async ({ digits, payoutIds }) => {
    const rows = await context.database.read((db) => listCashouts(db, payoutIds))
    const opened = rows.map((row) => ({ id: row.id, number: numberOf(context, row) }))
    const ending = opened.filter(({ number }) => typeof number === 'string' && endsWith(number, digits))
    const unreadable = opened.filter(({ number }) => number === null).length
    return ok({ payoutIds: ending.map(({ id }) => id), ...(unreadable > 0 && { unreadable }) })
  })

/** Tests the last digits of an account. Zeros in front of it mean nothing: some banks accept a number with or without them. */
const endsWith = (number: string, digits: string) => number.padStart(digits.length, '0').endsWith(digits)

function entryOf(context: Context, cashout: Cashout): ActivityEntry {
  const state = cashout.state as ShownState
  const bank = accountOf(context, cashout)
  const txHash = cashout.returnTxHash ?? cashout.takeTxHash
  return {
    id: cashout.id,
    kind: 'cashout',
    status: state,
    inFlight: inFlightStates.includes(state),
    ...(cashout.reason && { reason: cashout.reason }),
    ...wordsFor({ ...cashout, state }),
    pair: 'USD/IDR',
    fiat: cashout.fiatMinor.toString(),
    ...shownFee(cashout),
    rate: cashout.rateMinorPerUsd.toString(),
    ausd: cashout.ausdMicro.toString(),
    channel: 'bank',
    ...(cashout.channelCode && { channelCode: cashout.channelCode }),
    ...(bank && { bank }),
    ...(txHash && { txHash }),
    createdAt: cashout.createdAt.toISOString(),
    updatedAt: cashout.updatedAt.toISOString(),
  }
}

const digitsShown = 4

function accountOf(context: Context, cashout: Cashout): PaidAccount | undefined {
  const number = numberOf(context, cashout)
  if (typeof number !== 'string') return undefined
  return { name: context.channels.nameOf(cashout.channelCode), lastDigits: number.slice(-digitsShown) }
}

/**
 * Opens the number of a bank account. Returns undefined if the details are erased or kept for the law alone, and null if
 * they cannot be decrypted; the item is then shown without them.
 */
function numberOf({ safe }: Context, cashout: Cashout): string | null | undefined {
  const { id, bankDetails: box, bankDetailsKeyId: keyId, accountMark } = cashout
  if (box === '' || accountMark === null) return undefined
  try {
    return safe.open({ keyId, box }, id).accountNumber
  } catch {
    return null
  }
}

/** Returns figures for `nats micro stats payouts --json`. */
export async function readStats(context: Context) {
  const { database } = context
  const [cashouts, lag, dead, anomalies, listAgeMs, oldest, cover] = await Promise.all([
    countStates(database),
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    countAnomalies(database),
    listingAgeMs(database, listings),
    database.read(oldestCashouts),
    coverFigures(context, context.balance),
  ])
  const waiting = { outboxWaiting: lag.waiting, outboxOldestMs: lag.oldestMs }
  const oldestMs = agesOf(limits, oldest)
  /** The cover is absent before the first reading of the balance. */
  const covered = cover ? { cover } : {}
  return { ...cashouts, oldestMs, ...waiting, deadLetters: dead, anomalies, listAgeMs, ...covered }
}
