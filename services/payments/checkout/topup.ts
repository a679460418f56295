import { handler } from '#platform/bus/serve'
import { isTooLate } from '#platform/db/compiled-query'
import { failpoint } from '#platform/failpoint'
import { ChainAccount } from '#shared/messages/chain'
import { TopupCreate } from '#shared/messages/payments'
import { isInPilot } from '#shared/money/pilot'
import { type Answer, ok, refuse } from '#shared/refusals'
import { askOr, type Context } from '../context'
import { findMissing, findWallet } from '../losses/refund.store'
import { failIfStored, lockWallet } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { type Method, priceTopup } from '../price'
import { admitTopup, answerRetry, type CheckoutRequest, findRate, finish, insertOpening, requestOf } from './open'
import type { PaymentResult } from './provider-checkout'

export const answerTopups = (context: Context) =>
  handler(TopupCreate, ({ wallet, amount, method, quoteId, termsMissing = false }) => {
    const amountMinor = BigInt(amount)
    const fields = { kind: 'topup', wallet, quoteId, method } as const
    return openTopup(context, requestOf(fields, [`${amountMinor}`, method]), { amountMinor, termsMissing })
  })

type TopupRequest = CheckoutRequest & { readonly method: Method }
type Asked = { readonly amountMinor: bigint; readonly termsMissing: boolean }

async function openTopup(context: Context, request: TopupRequest, asked: Asked): Promise<Answer<PaymentResult>> {
  const stored = await storeTopup(context, request, asked)
  // A retry may be refused because of its own first request, whose response it gets.
  if ('refused' in stored) return (await answerRetry(context, request)) ?? stored
  failpoint('payments:row-stored')
  return finish(context, stored.ok)
}

async function storeTopup(
  context: Context,
  request: TopupRequest,
  { amountMinor, termsMissing }: Asked,
): Promise<Answer<PaymentRow>> {
  if (termsMissing) return refuse('terms_not_accepted')
  const { wallet, method } = request
  // A settlement is not held to the pilot: a debt must always be payable.
  // guard: during a pilot, only invited wallets open top-ups
  if (!isInPilot(context.pilot, wallet)) return refuse('not_in_pilot')
  const account = await askOr(context, ChainAccount, { wallet }, 'chain_unavailable')
  if ('refused' in account) return account
  // guard: an unverified user opens no top-up
  if (!account.ok.verified) return refuse('not_verified')
  // A frozen wallet can still pay by bank transfer and QR, so that it can repay a reversal.
  // guard: a frozen wallet cannot pay by card
  if (method === 'card' && (await isFrozen(context, account.ok)))
    return refuse((await isOwing(context, wallet)) ? 'wallet_frozen' : 'wallet_in_doubt')

  const rate = await findRate(context, request)
  if ('refused' in rate) return rate
  const price = priceTopup({ amountMinor, method, ...rate.ok })
  if ('refused' in price) return price
  const { ausdMicro } = price.ok
  const terms = { ...price.ok, ...rate.ok, topupMicro: ausdMicro }

  const treasury = await context.treasury.current()
  const opening = context.database.transaction(async (tx) => {
    // A retry takes no lock of a limit, for which it could wait in vain.
    failIfStored(tx, request.quoteId)
    // guard: a wallet's top-ups are counted under its lock
    lockWallet(tx, wallet)
    // The limit of a day is the better reason, because a user knows it.
    const isInDay = ausdMicro <= context.topupLimits.dayMicroMax
    if (isInDay && treasury && ausdMicro > treasury.creditMaxMicro) return refuse('amount_above_maximum')
    const admitted = await admitTopup(tx, context, { wallet, pair: terms.pair, ausdMicro, treasury })
    if ('refused' in admitted) return admitted
    return ok(insertOpening(tx, context, request, terms))
  })
  const opened = await opening.catch((error) => {
    if (isTooLate(error)) return refuse('quote_used')
    throw error
  })
  return 'refused' in opened ? opened : opened.ok()
}

/** Returns true if a frozen wallet owes for a reversed payment. Otherwise a refund or dispute may still be decided. */
export const isOwing = async ({ database }: Pick<Context, 'database'>, wallet: `0x${string}`): Promise<boolean> =>
  (await database.read((db) => findMissing(db, wallet))).length > 0

/** Returns true if the wallet is frozen on the chain, or if we have ordered a freeze that is not on the chain yet. */
const isFrozen = async ({ database }: Context, account: { wallet: `0x${string}`; frozen: boolean }): Promise<boolean> =>
  account.frozen || ((await database.read((db) => findWallet(db, account.wallet)))?.frozen ?? false)
