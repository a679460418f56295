import type { Sql } from 'postgres'
import type { Place } from '#infra/operations/place'
import { nowOf } from '#infra/operations/predicates'
import { openProvider, type PayoutApi } from '#infra/operations/restore/provider'
import type { Roots, TimelineEntry, TimelinePart } from '#infra/operations/timeline/entry'
import type { ProviderAccount } from '#shared/money/pair'

type ProviderObjects = {
  id: string
  account: ProviderAccount
  checkoutId: string | null
  paidAs: string | null
}

async function readProvider(sql: Sql, place: Place['provider'], { payments, cashouts }: Roots): Promise<TimelinePart> {
  if (payments.length + cashouts.length === 0) return {}
  if (!place) throw new Error('no provider key is set')
  const provider = openProvider(place)
  const at = await nowOf(sql)
  const rows = await sql<ProviderObjects[]>`
    select id, account, checkout_id as "checkoutId", provider_payment_id as "paidAs"
    from payments.payments where id = any(${[...payments]})`
  const entry = (what: string, id: string, says: string, isOdd = false): TimelineEntry => ({
    at,
    where: 'provider',
    what,
    id,
    says,
    isOdd,
  })
  const ofPayments = rows.map(async ({ account, checkoutId, paidAs }) => [
    ...(checkoutId
      ? [
          await provider
            .checkout(account, checkoutId)
            .then((found) => entry('checkout', checkoutId, found ? saysOf(found) : 'not found', !found)),
        ]
      : []),
    ...(paidAs
      ? [
          await provider
            .payment(account, paidAs)
            .then((found) => entry('payment', paidAs, found ? saysOf(found) : 'not found', !found)),
        ]
      : []),
  ])
  const orders = await sql<{ id: string; api: PayoutApi | null }[]>`
    select id, payout_api as api from payouts.payouts where id = any(${[...cashouts]})`
  const ofCashouts = cashouts.map(async (id) => {
    const found = await provider.payoutsOf(id, orders.find((one) => one.id === id)?.api)
    if (found.length === 0) return [entry('payout', id, 'no payout has this reference')]
    const isTwice = found.length > 1
    return found.map((payout) => entry('payout', payout.id, saysOf(payout), isTwice))
  })
  return { entries: (await Promise.all([...ofPayments, ...ofCashouts])).flat() }
}

/** Formats status and channel in the provider's terms, without personal data. */
function saysOf(found: object): string {
  const { status, channel_code: channel } = found as { status?: unknown; channel_code?: unknown }
  return ['found', status, channel].filter((word) => typeof word === 'string').join(', ')
}

export const atProvider = (sql: Sql, place: Place['provider']) => ({
  what: 'the provider',
  read: (roots: Roots) => readProvider(sql, place, roots),
})
