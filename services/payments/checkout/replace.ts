import type { Tx } from '#platform/db/open'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { supersede } from '../onchain/advance'
import { states } from '../payment'
import { findUnsettled } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { PaymentTerms } from '../price'
import { countUnpaidSettlements, lastRepaidAt } from '../treasury/sums.store'
import { endCheckout, receiveOpen } from './end'

// A settlement charges the whole debt, so a new one first ends the earlier one: both could be paid.
// A code already shown may still be paid: that money repays under its own ref, and only the excess
// over the debt becomes collateral.

/**
 * Returns what prevents a settlement of the debt read at `readAt`. The wallet is locked. `rival`:
 * another settlement answers the request. `changed`: the debt must be read again. An abandoned
 * opening, never shown, is replaced.
 */
export async function maySettle(
  tx: Tx,
  context: Context,
  { wallet, terms, readAt }: { wallet: `0x${string}`; terms: PaymentTerms; readAt: Date },
): Promise<Answer<{ readonly rival: PaymentRow } | 'changed'> | undefined> {
  // guard: a settlement is stored only if no other of its debt is open or in progress
  const unsettled = await findUnsettled(tx, wallet)
  if (unsettled.some(isReceived)) return refuse('settlement_on_its_way')
  const last = await lastRepaidAt(tx, wallet)
  if (last !== null && last >= readAt) return ok('changed')
  const rival = unsettled.find((one) => isSame(context, one, terms))
  if (rival) return ok({ rival })
  const opening = unsettled.find(({ state }) => state === 'opening')
  if (opening && isLeased(context, opening)) return refuse('provider_unavailable')
  const tooMany = await refuseTooMany(tx, wallet)
  if (tooMany) return tooMany
  if (opening) await supersede(tx, context, opening)
  return undefined
}

const isReceived = ({ state }: PaymentRow): boolean => states[state].inFlight === true

/** Settlements that a wallet may leave unpaid in an hour; each costs calls at the provider. */
const perHourMax = 10
const refuseTooMany = async (tx: Tx, wallet: `0x${string}`) =>
  (await countUnpaidSettlements(tx, wallet)) >= perHourMax ? refuse('settlements_too_many') : undefined

const isLeased = ({ clock }: Context, { openingUntil }: PaymentRow): boolean =>
  openingUntil !== null && openingUntil.getTime() > clock()

/** Returns true for the same debt, a rate within 1 %, and a third of its time left to pay. */
function isSame(context: Context, earlier: PaymentRow, terms: PaymentTerms): boolean {
  const { pair, ausdMicro, rateMinorPerUsd: rate, expiresAt } = earlier
  const apart = rate > terms.rateMinorPerUsd ? rate - terms.rateMinorPerUsd : terms.rateMinorPerUsd - rate
  if (pair !== terms.pair || ausdMicro !== terms.ausdMicro || apart * 100n > rate) return false
  if (earlier.state === 'opening') return isLeased(context, earlier)
  return expiresAt !== null && expiresAt.getTime() - context.clock() > context.checkoutTtlMs / 3
}

const open = async ({ database }: Context, wallet: `0x${string}`): Promise<PaymentRow[]> =>
  (await database.read((db) => findUnsettled(db, wallet))).filter(({ state }) => state === 'awaiting_payment')

/**
 * An earlier one may have been paid while its webhook was lost. `admit` comes first: a refused
 * request, which may be repeated without end, makes no provider call.
 */
export async function receiveEarlier(
  context: Context,
  wallet: `0x${string}`,
  terms: PaymentTerms,
  admit: (tx: Tx) => Promise<Answer<object>>,
): Promise<Answer<object>> {
  const all = await open(context, wallet)
  const earlier = all.filter((one) => !isSame(context, one, terms))
  if (earlier.length === 0) return ok({})
  const admitted = await context.database.transaction(async (tx) => (await refuseTooMany(tx, wallet)) ?? admit(tx))
  if ('refused' in admitted) return admitted
  for (const one of earlier) {
    const refused = await receiveOpen(context, one)
    if (refused) return refused
  }
  return ok({})
}

/**
 * Refuses with `settlement_on_its_way` if the earlier one was paid, and with `provider_unavailable`
 * if it may still be paid.
 */
export async function replaceEarlier(context: Context, payment: PaymentRow): Promise<Answer<object>> {
  for (const earlier of await open(context, payment.wallet)) {
    const refused = await endCheckout(context, earlier, supersede)
    if (refused) return refused
  }
  const unsettled = await context.database.read((db) => findUnsettled(db, payment.wallet))
  const others = unsettled.filter(({ id }) => id !== payment.id)
  if (others.length === 0) return ok({})
  const isPaid = others.some(isReceived)
  return refuse(isPaid ? 'settlement_on_its_way' : 'provider_unavailable')
}
