import { handler } from '#platform/bus/serve'
import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { SettlementCreate } from '#shared/messages/payments'
import { type Answer, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { lockWallet } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { type PaymentTerms, priceSettlement } from '../price'
import type { TreasuryCover } from '../treasury/cover'
import { readDebt } from '../treasury/debt'
import { coverDebt } from '../treasury/reserve'
import {
  admitTopup,
  answerByRival,
  answerRetry,
  type CheckoutRequest,
  findRate,
  finish,
  insertOpening,
  requestOf,
} from './open'
import type { PaymentResult } from './provider-checkout'
import { maySettle, receiveEarlier } from './replace'

export const answerSettlements = (context: Context) =>
  handler(SettlementCreate, ({ wallet, quoteId }) =>
    openSettlement(context, requestOf({ kind: 'settlement', wallet, quoteId, method: null }, [])),
  )

const triesMax = 4

async function openSettlement(context: Context, request: CheckoutRequest): Promise<Answer<PaymentResult>> {
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

async function storeSettlement(
  context: Context,
  request: CheckoutRequest,
): Promise<Answer<PaymentRow | 'changed' | { readonly rival: PaymentRow }>> {
  const { wallet } = request
  const readAt = new Date(context.clock())
  const debt = await readDebt(context, wallet)
  if ('refused' in debt) return debt
  const { drawnMicro, ripeMicro, mayTopUp } = debt.ok
  if (drawnMicro === 0n) return refuse('nothing_owed')

  const rate = await findRate(context, request)
  if ('refused' in rate) return rate
  const price = priceSettlement({ drawnMicro, ...rate.ok })
  if ('refused' in price) return price
  // A wallet that may have no top-ups gets no collateral: its payment only repays the remaining debt.
  // guard: a debt that is not ripe is held to the limits of top-ups
  const topupMicro = mayTopUp ? drawnMicro - ripeMicro : 0n
  const terms = {
    ...price.ok,
    ...rate.ok,
    // guard: a settlement pays no fee
    topupFees: null,
    topupMicro,
  }

  const treasury = await context.treasury.current()
  const admit = (tx: Tx) => admitDebt(tx, context, wallet, { terms, treasury })
  const received = await receiveEarlier(context, wallet, terms, admit)
  if ('refused' in received) return received
  const opening = await context.database.transaction(async (tx) => {
    // guard: settlements of a wallet are opened under its lock
    lockWallet(tx, wallet)
    const obstacle = await maySettle(tx, context, { wallet, terms, readAt })
    if (obstacle) return obstacle
    const admitted = await admit(tx)
    if ('refused' in admitted) return admitted
    return insertOpening(tx, context, request, terms)
  })
  return typeof opening === 'function' ? opening() : opening
}

async function admitDebt(
  tx: Tx,
  context: Context,
  wallet: `0x${string}`,
  { terms, treasury }: { terms: PaymentTerms; treasury: TreasuryCover | undefined },
): Promise<Answer<object>> {
  const repayable = coverDebt(treasury, terms.ausdMicro)
  const ausdMicro = terms.topupMicro
  if ('refused' in repayable || ausdMicro === 0n) return repayable
  return admitTopup(tx, context, { wallet, pair: terms.pair, ausdMicro, treasury })
}
