import type { ProviderClient } from '#shared/provider/client'
import type { ProviderRefusal } from '#shared/provider/problem'
import type { PayoutProvider } from '../../payout-provider.ts'
import {
  bodyOf,
  channelsFrom,
  evidenceFrom,
  XenditChannelList,
  XenditPayout,
  XenditPayoutList,
} from './mapping.ts'

/** Payouts v2 of the Indonesian account. */
export const xenditPayouts = (client: ProviderClient): PayoutProvider => ({
  create: async (order) => {
    const answer = await client.post('/v2/payouts', {
      schema: XenditPayout,
      body: bodyOf(order),
      idempotencyKey: order.id,
    })
    if ('ok' in answer) return { ok: evidenceFrom(answer.ok) }
    return { refused: { code: answer.refused.code, meaning: answer.refused.meaning } }
  },
  find: async (payoutId) => {
    const path = `/v2/payouts/${encodeURIComponent(payoutId)}`
    const answer = await client.get(path, { schema: XenditPayout })
    if ('ok' in answer) return evidenceFrom(answer.ok)
    if (answer.refused.meaning === 'not_found') return undefined
    throw refusedTo('show a payout', answer.refused)
  },
  findByReference: async (id) => {
    const query = new URLSearchParams({ reference_id: id, limit: '10' })
    const answer = await client.get(`/v2/payouts?${query}`, { schema: XenditPayoutList })
    if ('refused' in answer) throw refusedTo('list payouts', answer.refused)
    const payouts = Array.isArray(answer.ok) ? answer.ok : answer.ok.data
    return payouts.map(evidenceFrom).filter((payout) => payout.referenceId === id)
  },
  listChannels: async () => {
    const query = new URLSearchParams({ currency: 'IDR', channel_category: 'BANK' })
    const answer = await client.get(`/payouts_channels?${query}`, {
      schema: XenditChannelList,
      deadlineMs: 4_000,
    })
    if ('refused' in answer) throw refusedTo('list channels', answer.refused)
    return channelsFrom(answer.ok)
  },
})

/** The provider's own text stays out of it: it may name people. */
const refusedTo = (what: string, { status, code }: ProviderRefusal) =>
  new Error(`the provider refused to ${what}: ${status} ${code}`)
