import type { Static } from 'typebox'
import type { Clock } from '#platform/clock'
import type { Log } from '#platform/log'
import { readBalance } from '#shared/provider/balance'
import { type Exchange, openProviderClient, type ProviderClient } from '#shared/provider/client'
import { payoutStatusFrom, payoutsV3Version } from '#shared/provider/payout'
import { type ProviderRefusal, ProviderUnknown } from '#shared/provider/problem'
import { listAllTransactions } from '#shared/provider/transactions'
import type { Evidence, PayoutApis, PayoutOrder, PayoutProvider } from '../../provider'
import { readDelivery } from './delivery'
import {
  bodyOf,
  channelsFrom,
  evidenceFrom,
  XenditChannelList,
  XenditOrdered,
  XenditPayout,
  XenditPayoutList,
} from './mapping'
import { swiftCodeOf } from './swift-codes'
import { bodyOfV3, evidenceFromV3, XenditOrderedV3, XenditPayoutListV3, XenditPayoutV3 } from './v3'

/** Opens the client. `apis` are the versions that were used, that of new orders first. */
export const openXendit = ({
  apis,
  ...options
}: {
  baseUrl: string
  secretKey: string
  requestsPerMinute: number
  copies?: () => number
  apis?: PayoutApis
  log: Log
  clock?: Clock
  exchange?: Exchange
}): PayoutProvider => xenditPayouts(openProviderClient({ ...options, account: 'ID' }), apis)

export const xenditPayouts = (client: ProviderClient, apis: PayoutApis = ['v2']): PayoutProvider => ({
  apis,
  create: async (order, through) => {
    const answer = through === 'v3' ? await createV3(client, order) : await createV2(client, order)
    if ('ok' in answer) return answer
    return { refused: { code: answer.refused.code, meaning: answer.refused.meaning } }
  },
  find: async (payoutId) => {
    const isV3 = payoutId.startsWith('po-')
    const path = `/${isV3 ? 'v3' : 'v2'}/payouts/${encodeURIComponent(payoutId)}`
    const answer = isV3
      ? await client.get(path, { schema: XenditPayoutV3, apiVersion: payoutsV3Version })
      : await client.get(path, { schema: XenditPayout })
    if ('refused' in answer) {
      if (answer.refused.meaning === 'not_found') return undefined
      throw refusedTo('show a payout', answer.refused)
    }
    return isV3 ? evidenceFromV3(answer.ok, payoutId) : evidenceFrom(answer.ok, payoutId)
  },
  findByReference: async (id, through) => {
    const query = new URLSearchParams({ reference_id: id, limit: '10' })
    const path = `/${through}/payouts?${query}`
    const answer =
      through === 'v3'
        ? await client.get(path, { schema: XenditPayoutListV3, apiVersion: payoutsV3Version })
        : await client.get(path, { schema: XenditPayoutList })
    if ('refused' in answer) throw refusedTo('list payouts', answer.refused)
    return payoutsOf(id, pageOf(answer.ok))
  },
  listTransactions: (agoMs) =>
    listAllTransactions(client, {
      types: ['payout'],
      updatedFrom: new Date(client.now() - agoMs),
    }),
  balance: async () => {
    const minor = await readBalance(client, { deadlineMs: 4_000 })
    return minor > 0n ? minor : 0n
  },
  /**
   * Always `cannot_tell`, because no current endpoint is proven: Xendit's documents name only the name
   * validator of the legacy API, which answers by callback.
   */
  checkHolder: async () => 'cannot_tell',
  listChannels: async () => {
    const query = new URLSearchParams({ currency: 'IDR', channel_category: 'BANK' })
    const answer = await client.get(`/payouts_channels?${query}`, {
      schema: XenditChannelList,
      deadlineMs: 4_000,
    })
    if ('refused' in answer) throw refusedTo('list channels', answer.refused)
    const banks = channelsFrom(answer.ok)
    return apis[0] === 'v3' ? banks.filter(({ code }) => swiftCodeOf(code) !== undefined) : banks
  },
  statusOf: payoutStatusFrom,
  readDelivery,
})

async function createV2(client: ProviderClient, order: PayoutOrder) {
  // guard: a payout keeps one idempotency key
  const asked = { body: bodyOf(order), idempotencyKey: order.id }
  const answer = await client.post('/v2/payouts', { schema: XenditOrdered, ...asked })
  return 'ok' in answer ? { ok: evidenceFrom(answer.ok, answer.ok.id) } : answer
}

async function createV3(client: ProviderClient, order: PayoutOrder) {
  // guard: a v3 payout keeps one idempotency key
  const asked = { body: bodyOfV3(order), idempotencyKey: order.id, apiVersion: payoutsV3Version }
  const answer = await client.post('/v3/payouts', { schema: XenditOrderedV3, ...asked })
  return 'ok' in answer ? { ok: evidenceFromV3(answer.ok, answer.ok.payout_id) } : answer
}

type Page = { readonly more: boolean | undefined; readonly payouts: readonly Evidence[] }

/** Reads a list, which is an object on the wire and a bare array in the v2 reference. */
function pageOf(list: Static<typeof XenditPayoutList> | Static<typeof XenditPayoutListV3>): Page {
  const rows = Array.isArray(list) ? list : list.data
  return {
    more: Array.isArray(list) ? undefined : list.has_more,
    payouts: rows.map((row) => ('payout_id' in row ? evidenceFromV3(row, row.payout_id) : evidenceFrom(row, row.id))),
  }
}

/**
 * Returns the payouts of a list that have our reference. Only a complete, empty page (the observed form)
 * proves that there is none; rows with other references make the lookup inconclusive.
 */
function payoutsOf(id: string, { more, payouts }: Page): Evidence[] {
  if (more) throw new ProviderUnknown('the provider listed only some payouts of a reference')
  const own = payouts.filter((payout) => payout.referenceId === id)
  const saysNone = more === false && payouts.length === 0
  // guard: only one response means that a reference has no payouts
  if (own.length === 0 && !saysNone) throw new ProviderUnknown('inconclusive lookup of payouts by reference')
  return own
}

/** Returns an error without the provider's own text, which may contain names. */
const refusedTo = (what: string, refusal: ProviderRefusal) => {
  const text = `the provider refused to ${what}: ${refusal.status} ${refusal.code}`
  return new ProviderUnknown(text, { refusal })
}
