import type { Static } from 'typebox'
import type { Log } from '#shared/log'
import { openProviderClient, type ProviderClient } from '#shared/provider/client'
import { type ProviderRefusal, ProviderUnknown } from '#shared/provider/problem'
import { listAllTransactions } from '#shared/provider/transactions'
import type { Evidence, PayoutProvider } from '../../provider'
import { readDelivery } from './delivery'
import {
  bodyOf,
  channelsFrom,
  evidenceFrom,
  statusFrom,
  XenditChannelList,
  XenditOrdered,
  XenditPayout,
  XenditPayoutList,
} from './mapping'

/** Opens the Indonesian account at the provider. */
export const openXendit = (options: {
  baseUrl: string
  secretKey: string
  requestsPerMinute: number
  copies?: number
  log: Log
}): PayoutProvider => xenditPayouts(openProviderClient({ ...options, account: 'ID' }))

/** Payouts v2 of the Indonesian account. */
export const xenditPayouts = (client: ProviderClient): PayoutProvider => ({
  create: async (order) => {
    const answer = await client.post('/v2/payouts', {
      schema: XenditOrdered,
      body: bodyOf(order),
      idempotencyKey: order.id,
    })
    if ('ok' in answer) return { ok: evidenceFrom(answer.ok, answer.ok.id) }
    return { refused: { code: answer.refused.code, meaning: answer.refused.meaning } }
  },
  find: async (payoutId) => {
    const path = `/v2/payouts/${encodeURIComponent(payoutId)}`
    const answer = await client.get(path, { schema: XenditPayout })
    if ('ok' in answer) return evidenceFrom(answer.ok, payoutId)
    if (answer.refused.meaning === 'not_found') return undefined
    throw refusedTo('show a payout', answer.refused)
  },
  findByReference: async (id) => {
    const query = new URLSearchParams({ reference_id: id, limit: '10' })
    const answer = await client.get(`/v2/payouts?${query}`, { schema: XenditPayoutList })
    if ('refused' in answer) throw refusedTo('list payouts', answer.refused)
    return payoutsOf(id, answer.ok)
  },
  listTransactions: (updatedFrom) =>
    listAllTransactions(client, {
      types: ['payout'],
      updatedFrom,
      // Their clock and ours need not agree to the second.
      updatedTo: new Date(Date.now() + 3_600_000),
    }),
  listChannels: async () => {
    const query = new URLSearchParams({ currency: 'IDR', channel_category: 'BANK' })
    const answer = await client.get(`/payouts_channels?${query}`, {
      schema: XenditChannelList,
      deadlineMs: 4_000,
    })
    if ('refused' in answer) throw refusedTo('list channels', answer.refused)
    return channelsFrom(answer.ok)
  },
  statusOf: statusFrom,
  readDelivery,
})

/**
 * The payouts with our reference. That there is none is said by one form of answer alone, the one
 * observed: whole and empty. Rows of other references mean that something else was answered.
 */
function payoutsOf(id: string, list: Static<typeof XenditPayoutList>): Evidence[] {
  const { has_more: more, data: payouts } = Array.isArray(list)
    ? { has_more: undefined, data: list }
    : list
  if (more) throw new ProviderUnknown('the provider has more payouts of a reference than it listed')
  const own = payouts
    .map((payout) => evidenceFrom(payout, payout.id))
    .filter((payout) => payout.referenceId === id)
  const saysNone = more === false && payouts.length === 0
  if (own.length === 0 && !saysNone)
    throw new ProviderUnknown('the provider did not say that a reference has no payouts')
  return own
}

/** The provider's own text stays out of it: it may name people. */
const refusedTo = (what: string, refusal: ProviderRefusal) => {
  const text = `the provider refused to ${what}: ${refusal.status} ${refusal.code}`
  return new ProviderUnknown(text, { refusal })
}
