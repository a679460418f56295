import { refOf } from '#shared/chain/ref'
import { idFor } from '#shared/ids'
import type { ProviderAccount } from '#shared/money/pair'
import type { ListedMoney } from './provider'
import { type Found, type LostPayment, minorOf, type World, wordOf } from './world'

/** Our payment id out of the provider's reference: equal to it, or followed by `_` and the attempt. */
const paymentIdOf = (reference: string | null): string | undefined =>
  /^(pay_[A-Za-z0-9_-]{22})(_.*)?$/.exec(reference ?? '')?.[1]
const accountOf = (currency: string): ProviderAccount => (currency === 'MYR' ? 'MY' : 'ID')

/**
 * Payments that the provider was paid for and that no row knows. What was promised is read from its
 * checkout; else from what was ordered or done on the chain, which is then the promise that counts.
 */
export async function findPayments(world: World): Promise<Found<LostPayment>> {
  const found: Found<LostPayment> = { rows: [], told: [], undecided: [] }
  const seen = new Set(world.known.payments)
  const take = (row: LostPayment | undefined, from: string) => {
    if (!row || seen.has(row.id)) return row !== undefined
    seen.add(row.id)
    found.rows.push(row)
    found.told.push(
      `${row.kind} ${row.id} of ${row.wallet}: ${row.fiat_minor} ${row.currency} for ${row.ausd_micro} micro AUSD, from ${from}`,
    )
    return true
  }
  for (const checkoutId of world.checkouts) {
    const row =
      (await fromCheckout(world, 'ID', checkoutId)) ?? (await fromCheckout(world, 'MY', checkoutId))
    if (!take(row, 'the checkout named by you'))
      found.undecided.push(`checkout ${checkoutId} does not say what was promised`)
  }
  for (const money of world.listed) {
    const id =
      money.type === 'payment' && money.status === 'succeeded' && paymentIdOf(money.reference)
    if (!id || seen.has(id)) continue
    const checkout = world.bus.checkouts.get(id)
    if (
      checkout &&
      take(await fromCheckout(world, checkout.account, checkout.checkoutId), 'its checkout')
    )
      continue
    if (take(await fromEffect(world, id, money), 'the chain or the orders')) continue
    const paid = `${money.amountMinor} ${money.currency} (smallest unit), ${money.productId}, ${money.created?.toISOString()}`
    found.undecided.push(
      `payment ${id}: ${paid}: whose it is stands in its checkout alone; find that in the dashboard and add --checkout ps-…`,
    )
  }
  return found
}

/** The promise that the provider kept beside its checkout; the row asks on its own what came of it. */
async function fromCheckout(
  { provider }: World,
  account: ProviderAccount,
  checkoutId: string,
): Promise<LostPayment | undefined> {
  const session = await provider.checkout(account, checkoutId)
  const words = session?.metadata
  const id = paymentIdOf(session?.reference_id ?? null)
  if (!session || !id || idFor('payment', wordOf(words, 'quote_id')) !== id) return undefined
  const end = Date.parse(session.expires_at ?? '')
  return {
    ...{ id, account, state: 'expired', kind: wordOf(words, 'kind') as LostPayment['kind'] },
    ...{ wallet: wordOf(words, 'wallet'), method: wordOf(words, 'method') || null },
    ...{ currency: session.currency, pair: `USD/${session.currency}` },
    fiat_minor: minorOf(session.amount, session.currency),
    ausd_micro: BigInt(wordOf(words, 'ausd')),
    rate_minor_per_usd: BigInt(wordOf(words, 'rate')),
    ...{ quote_id: wordOf(words, 'quote_id'), taken_by: wordOf(words, 'taken_by') },
    ...{ checkout_id: session.payment_session_id, checkout_url: session.payment_link_url ?? null },
    expires_at: Number.isNaN(end) ? new Date() : new Date(end),
    created_at: new Date(Date.parse(session.created ?? '') || Date.now()),
  }
}

/** What the chain did, or was ordered to do, under its ref, together with what the provider was paid. */
async function fromEffect(
  { provider, lanes, bus }: World,
  id: string,
  money: ListedMoney,
): Promise<LostPayment | undefined> {
  const ref = refOf(id)
  const deed = lanes
    .flatMap(({ deeds }) => deeds ?? [])
    .find((one) => (one.does === 'credit' || one.does === 'repay') && one.ref === ref && one.done)
  const order = bus.orders.get(id)
  const effect =
    deed && (deed.does === 'credit' || deed.does === 'repay')
      ? { kind: deed.does, wallet: deed.wallet, micro: deed.ausdMicro, held: deed.held }
      : order && {
          kind: order.kind,
          wallet: order.wallet,
          micro: BigInt(order.ausd),
          held: order.held,
        }
  const { productId, amountMinor, currency } = money
  const charge = effect && productId && (await provider.payment(money.account, productId))
  if (!effect || !charge || !amountMinor || !currency) return undefined
  const paidAt = charge.captures?.[0]?.capture_timestamp ?? charge.created ?? ''
  return {
    ...{ id, account: accountOf(currency), state: 'paid', currency, pair: `USD/${currency}` },
    kind: effect.kind === 'credit' ? 'topup' : 'settlement',
    ...{ wallet: effect.wallet, held: effect.held, method: null },
    ...{ fiat_minor: amountMinor, paid_minor: amountMinor },
    ...{ ausd_micro: effect.micro, live_micro: effect.micro },
    rate_minor_per_usd: (amountMinor * 1_000_000n) / effect.micro || 1n,
    ...{ quote_id: `lost:${id}`, taken_by: 'lost' },
    ...{ provider_payment_id: charge.payment_id, channel: charge.channel_code },
    payment_request_id: charge.payment_request_id ?? null,
    paid_at: new Date(Date.parse(paidAt) || Date.now()),
    created_at: money.created ?? new Date(),
  }
}
