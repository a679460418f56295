import { handler } from '#shared/bus/serve'
import { failpoint } from '#shared/failpoint'
import { SettlementCreate } from '#shared/messages/payments'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { lockWallet, type PaymentRow } from '../payment.store'
import { priceSettlement } from '../price'
import { readDebt } from '../treasury/debt'
import { coverDebt } from '../treasury/reserve'
import {
  admitTopup,
  answerByRival,
  answerRetry,
  findQuote,
  finish,
  insertOpening,
  type PaymentRequest,
  requestOf,
} from './open'
import type { PaymentResult } from './provider-checkout'
import { maySettle, receiveEarlier } from './replace'

/**
 * Opens settlements. Refusals, in this order: nothing_owed, quote, amount, an earlier settlement in
 * progress, too many of them, a debt that the treasury cannot repay; and those of a top-up for the
 * part of a debt that is not ripe, which its owner may repay himself before paying.
 */
export const answerSettlements = (context: Context) =>
  handler(SettlementCreate, ({ wallet, quoteId }) =>
    openSettlement(context, requestOf({ kind: 'settlement', wallet, quoteId, method: null }, [])),
  )

/** Maximum attempts if the debt changes concurrently. */
const triesMax = 4

async function openSettlement(
  context: Context,
  request: PaymentRequest,
): Promise<Answer<PaymentResult>> {
  const first = await answerRetry(context, request)
  if (first) return first
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await storeSettlement(context, request)
    // A concurrent retry may have succeeded and caused this refusal.
    if ('refused' in stored) return (await answerRetry(context, request)) ?? stored
    if (stored.ok === 'changed') continue
    if ('rival' in stored.ok) return answerByRival(context, stored.ok.rival)
    failpoint('payments:row-stored')
    return finish(context, stored.ok)
  }
  return refuse('provider_unavailable')
}

/**
 * Runs every check and stores the promise, before its quote is taken. `rival`: another settlement
 * of the wallet answers the request. `changed`: the debt must be read again.
 */
async function storeSettlement(
  context: Context,
  request: PaymentRequest,
): Promise<Answer<PaymentRow | 'changed' | { readonly rival: PaymentRow }>> {
  const { wallet } = request
  const readAt = new Date(context.clock())
  const debt = await readDebt(context, wallet)
  if ('refused' in debt) return debt
  const { drawnMicro, ripeMicro } = debt.ok
  if (drawnMicro === 0n) return refuse('nothing_owed')

  const quote = await findQuote(context, request)
  if ('refused' in quote) return quote
  const { pair, rate, spreadBps } = quote.ok
  const rateMinorPerUsd = BigInt(rate)
  const price = priceSettlement({ drawnMicro, pair, rateMinorPerUsd })
  if ('refused' in price) return price
  const topupMicro = drawnMicro - ripeMicro
  const terms = { ...price.ok, pair, rateMinorPerUsd, spreadBps, topupMicro }

  const received = await receiveEarlier(context, wallet, terms)
  if ('refused' in received) return received
  const treasury = await context.treasury.current()
  return context.database.transaction(async (tx) => {
    // Under the lock, so that concurrent requests are counted one after another.
    await lockWallet(tx, wallet)
    const obstacle = await maySettle(tx, context, { wallet, terms, readAt })
    if (obstacle) return obstacle
    const repayable = coverDebt(treasury, terms.ausdMicro)
    if ('refused' in repayable) return repayable
    const excess = { wallet, ausdMicro: topupMicro, treasury }
    const admitted = topupMicro > 0n ? await admitTopup(tx, context, excess) : ok({})
    if ('refused' in admitted) return admitted
    return insertOpening(tx, context, request, terms)
  })
}
