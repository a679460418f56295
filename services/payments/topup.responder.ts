import { answering } from '#shared/bus/serve'
import { ChainAccount } from '#shared/messages/chain'
import { TopupCreate } from '#shared/messages/payments'
import { ok, refuse } from '#shared/refusals'
import { askOr } from './asking'
import { type Creation, createPayment } from './creation.responder'
import { priceTopup } from './topup'
import { findWallet } from './wallet.store'

/** Refused, in this order: not_verified, wallet_frozen (cards), what the quote says, the limits. */
export const answerTopups = (creation: Creation) =>
  answering(TopupCreate, ({ wallet: asWritten, amount, method, quoteId }) => {
    const wallet = asWritten.toLowerCase() as `0x${string}`
    const amountMinor = BigInt(amount)
    return createPayment(creation, {
      kind: 'topup',
      wallet,
      quoteId,
      method,
      body: [amountMinor.toString(), method],
      admit: async () => {
        const account = await askOr(creation.ask, ChainAccount, { wallet }, 'chain_unavailable')
        if ('refused' in account) return account
        if (!account.ok.verified) return refuse('not_verified')
        // The other ways to pay stay open, so that what was taken back can be made good.
        if (method === 'card' && (await isFrozen(creation, account.ok)))
          return refuse('wallet_frozen')
        return ok(({ pair, rate }) =>
          priceTopup({ amountMinor, method, pair, rateMinorPerUsd: BigInt(rate) }),
        )
      },
    })
  })

/** By the chain, or because we ordered it and the chain does not show it yet. */
const isFrozen = async (
  { database }: Creation,
  account: { wallet: string; frozen: boolean },
): Promise<boolean> =>
  account.frozen || ((await database.read((db) => findWallet(db, account.wallet)))?.frozen ?? false)
