import { answering } from '#shared/bus/serve'
import { ChainAccount } from '#shared/messages/chain'
import { TopupCreate } from '#shared/messages/payments'
import { ok, refuse } from '#shared/refusals'
import { askOr } from './asking'
import { type Creation, createPayment } from './creation.responder'
import { priceTopup } from './topup'

/** Refused, in this order: not_verified, what the quote says, the amount's limits. */
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
        return ok(({ pair, rate }) =>
          priceTopup({ amountMinor, method, pair, rateMinorPerUsd: BigInt(rate) }),
        )
      },
    })
  })
