import { answering } from '#shared/bus/serve'
import { ChainAccount } from '#shared/messages/chain'
import { SettlementCreate } from '#shared/messages/payments'
import { ok, refuse } from '#shared/refusals'
import { askOr } from './asking'
import { type Creation, createPayment } from './creation.responder'
import { endOpenSettlement, maySettle } from './replace'
import { priceSettlement } from './settlement'

/**
 * Refused, in this order: nothing_owed, what the quote says, the channels' limits, what is on its way.
 */
export const answerSettlements = (creation: Creation) =>
  answering(SettlementCreate, ({ wallet: asWritten, quoteId }) => {
    const wallet = asWritten.toLowerCase() as `0x${string}`
    let readAt = new Date(0)
    return createPayment(creation, {
      kind: 'settlement',
      wallet,
      quoteId,
      method: null,
      body: [],
      admit: async () => {
        readAt = new Date(creation.context.clock())
        const account = await askOr(creation.ask, ChainAccount, { wallet }, 'chain_unavailable')
        if ('refused' in account) return account
        const drawnMicro = BigInt(account.ok.drawn)
        if (drawnMicro === 0n) return refuse('nothing_owed')
        return ok(({ pair, rate }) =>
          priceSettlement({ drawnMicro, pair, rateMinorPerUsd: BigInt(rate) }),
        )
      },
      makeWay: () => endOpenSettlement(creation, wallet),
      may: (tx) => maySettle(tx, wallet, readAt),
    })
  })
