import type { Tx } from '#platform/db/open'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { supersede } from '../onchain/advance'
import { states } from '../payment'
import { findUnsettled, lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { PaymentTerms } from '../price'
import { countUnpaidSettlements, lastRepaidAt } from '../treasury/sums.store'
import { endCheckout, receiveOpen } from './end'

// Both checkouts of a debt could be paid, and a settlement charges the whole debt, so a new settlement first
// ends the checkout of the earlier one. A payment code that was already shown may still be paid: that money
// repays under its own ref, and only the excess over the debt becomes collateral.

/**
 * Returns what prevents a settlement of the debt read at `readAt`, or undefined. `rival` is another
 * settlement whose checkout answers the request; `changed` means that the debt must be read again. An
 * abandoned opening, whose checkout was never shown, is replaced. The caller holds the wallet lock.
 */
export async function maySettle(
  tx: Tx,
  context: Context,
  { wallet, terms, readAt }: { wallet: `0x${string}`; terms: PaymentTerms; readAt: Date },
): Promise<Answer<{ readonly rival: PaymentRow } | 'changed'> | undefined> {
  // guard: a settlement is stored only if no other of its debt is open or in progress
  const [unsettled, last, unpaid] = await Promise.all([
    findUnsettled(tx, wallet),
    lastRepaidAt(tx, wallet),
    countUnpaidSettlements(tx, wallet),
  ])
  if (unsettled.some(isReceived)) return refuse('settlement_on_its_way')
  if (last !== null && last >= readAt) return ok('changed')
  const rival = unsettled.find((one) => isSame(context, one, terms))
  if (rival) return ok({ rival })
  const opening = unsettled.find(({ state }) => state === 'opening')
  if (opening && isLeased(context, opening)) return refuse('provider_unavailable')
  const tooMany = refuseTooMany(unpaid)
  if (tooMany) return tooMany
  const abandoned = opening && (await lockPayment(tx, opening.id))
  if (abandoned?.state === 'opening') await supersede(tx, context, abandoned)
  return undefined
}

const isReceived = ({ state }: PaymentRow): boolean => states[state].inFlight === true

/** Unpaid settlements allowed per wallet and hour. Each one costs calls at the provider. */
const perHourMax = 10
const refuseTooMany = (unpaid: number) => (unpaid >= perHourMax ? refuse('settlements_too_many') : undefined)

const isLeased = ({ clock }: Context, { openingUntil }: PaymentRow): boolean =>
  openingUntil !== null && openingUntil.getTime() > clock()

/**
 * Returns true if the debt is the same, the rate differs by at most 1 %, and a third of the checkout's time
 * is left.
 */
function isSame(context: Context, earlier: PaymentRow, terms: PaymentTerms): boolean {
  const { pair, ausdMicro, rateMinorPerUsd: rate, expiresAt } = earlier
  const apart = rate > terms.rateMinorPerUsd ? rate - terms.rateMinorPerUsd : terms.rateMinorPerUsd - rate
  if (pair !== terms.pair || ausdMicro !== terms.ausdMicro || apart * 100n > rate) return false
  if (earlier.state === 'opening') return isLeased(context, earlier)
  return expiresAt !== null && expiresAt.getTime() - context.clock() > context.checkoutTtlMs / 3
}

const unsettledOf = ({ database }: Context, wallet: `0x${string}`): Promise<PaymentRow[]> =>
  database.read((db) => findUnsettled(db, wallet))
const isOpen = ({ state }: PaymentRow): boolean => state === 'awaiting_payment'

/**
 * Receives the open checkouts of earlier settlements, which may have been paid while their webhook was lost.
 * `admit` runs first, so that a refused request, which may be repeated without end, makes no provider call.
 */
export async function receiveEarlier(
  context: Context,
  wallet: `0x${string}`,
  terms: PaymentTerms,
  admit: (tx: Tx) => Promise<Answer<object>>,
): Promise<Answer<object>> {
  const all = await unsettledOf(context, wallet)
  const earlier = all.filter((one) => isOpen(one) && !isSame(context, one, terms))
  if (earlier.length === 0) return ok({})
  const admitted = await context.database.transaction(
    async (tx) => refuseTooMany(await countUnpaidSettlements(tx, wallet)) ?? admit(tx),
  )
  if ('refused' in admitted) return admitted
  for (const one of earlier) {
    const refused = await receiveOpen(context, one)
    if (refused) return refused
  }
  return ok({})
}

/**
 * Ends the open checkouts of earlier settlements. Refuses with `settlement_on_its_way` if one was paid, and
 * with `provider_unavailable` if one may still be paid. Ends none if the caller has lost the lease on `payment`: what is open may
 * then be a later checkout. The lease is over after a stall, and is lost with the row if Postgres crashed.
 */
export async function replaceEarlier(context: Context, payment: PaymentRow): Promise<Answer<object> | 'lease lost'> {
  const all = await unsettledOf(context, payment.wallet)
  if (!all.some((one) => isLeaseOf(one, payment))) return 'lease lost'
  if (all.length === 1) return ok({})
  for (const earlier of all.filter(isOpen)) {
    const refused = await endCheckout(context, earlier, supersede)
    if (refused) return refused
  }
  const unsettled = await unsettledOf(context, payment.wallet)
  const others = unsettled.filter(({ id }) => id !== payment.id)
  if (others.length === 0) return ok({})
  const isPaid = others.some(isReceived)
  return refuse(isPaid ? 'settlement_on_its_way' : 'provider_unavailable')
}

const isLeaseOf = ({ id, state, openingUntil }: PaymentRow, payment: PaymentRow): boolean =>
  id === payment.id && state === 'opening' && openingUntil?.getTime() === payment.openingUntil?.getTime()
