import { refOf } from '#shared/chain/ref'
import { idFor } from '#shared/ids'
import type { ProviderAccount } from '#shared/money/pair'
import type { ListedMoney } from './provider'
import {
  type FoundPayments,
  type LostPayment,
  minorOf,
  type PaidFacts,
  type World,
  wordOf,
} from './world'

/** Our payment id out of the provider's reference: equal to it, or followed by `_` and the attempt. */
const paymentIdOf = (reference: string | null): string | undefined =>
  /^(pay_[A-Za-z0-9_-]{22})(_.*)?$/.exec(reference ?? '')?.[1]

/**
 * Payments that the provider was paid for and that no row knows, or only as they were before. What was
 * promised is read from the checkout; what the chain did since is taken as it is, because deciding it
 * anew may come to something else: a refund that is known by now, another rate for late money.
 */
export async function findPayments(world: World): Promise<FoundPayments> {
  const found: FoundPayments = { rows: [], told: [], undecided: [], paid: [] }
  const seen = new Set<string>()
  for (const checkoutId of world.checkouts) {
    const row =
      (await fromCheckout(world, 'ID', checkoutId)) ?? (await fromCheckout(world, 'MY', checkoutId))
    if (!row) found.undecided.push(`checkout ${checkoutId} does not say what was promised`)
    if (!row || seen.has(row.id) || world.known.payments.has(row.id)) continue
    seen.add(row.id)
    add(found, row, 'the checkout named by you')
  }
  for (const money of world.listed) {
    const id =
      money.type === 'payment' && money.status === 'succeeded' && paymentIdOf(money.reference)
    if (!id || seen.has(id)) continue
    seen.add(id)
    if (world.known.payments.has(id)) await findPaid(world, found, id, money)
    else await findLost(world, found, id, money)
  }
  return found
}

function add(found: FoundPayments, row: LostPayment, from: string): void {
  found.rows.push(row)
  const worth = `${row.fiat_minor} ${row.currency} for ${row.ausd_micro} micro AUSD`
  found.told.push(`${row.kind} ${row.id} of ${row.wallet}: ${worth}, from ${from}`)
}

/** A row that is there, of a time before the chain acted for it. */
async function findPaid(world: World, found: FoundPayments, id: string, money: ListedMoney) {
  const promisedMicro = world.known.uncredited.get(id)
  const effect = promisedMicro === undefined ? undefined : effectOf(world, id)
  const facts = effect && (await factsOf(world, money, effect))
  if (!effect || !facts) return
  found.paid.push({ id, facts })
  found.told.push(`payment ${id}: its row does not know yet what the chain did for it`)
  noteWorth(found, id, promisedMicro!, effect.micro)
}

async function findLost(world: World, found: FoundPayments, id: string, money: ListedMoney) {
  const named = world.bus.checkouts.get(id)
  const promise = named && (await fromCheckout(world, named.account, named.checkoutId))
  const done = effectOf(world, id)
  const effect = done ?? (promise ? undefined : orderOf(world, id))
  const facts = effect && (await factsOf(world, money, effect))
  if (promise) add(found, { ...promise, ...(facts ?? {}) }, 'its checkout')
  else if (effect && facts)
    add(found, fromEffect(id, money, effect, facts), 'the chain or the orders')
  else {
    const sum = `${money.amountMinor} ${money.currency} (smallest unit), ${money.productId}`
    const when = money.created?.toISOString()
    found.undecided.push(
      `payment ${id}: ${sum}, ${when}: whose it is stands in its checkout alone; find that in the dashboard and add --checkout ps-…`,
    )
  }
  if (promise && done) noteWorth(found, id, promise.ausd_micro as bigint, done.micro)
}

/** Late money, a part that was refunded before, or one that made good an earlier loss. */
function noteWorth(found: FoundPayments, id: string, promised: bigint, micro: bigint): void {
  if (promised === micro) return
  found.undecided.push(
    `payment ${id}: ${promised} micro AUSD were promised, the chain has ${micro}: see why, and note it in the row`,
  )
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
    spread_bps: BigInt(wordOf(words, 'spread') || 0),
    ...{ quote_id: wordOf(words, 'quote_id'), taken_by: wordOf(words, 'taken_by') },
    ...{ checkout_id: session.payment_session_id, checkout_url: session.payment_link_url ?? null },
    expires_at: Number.isNaN(end) ? new Date() : new Date(end),
    created_at: new Date(Date.parse(session.created ?? '') || Date.now()),
  }
}

type Effect = { kind: 'credit' | 'repay'; wallet: string; micro: bigint; held: boolean }

/** What a lane did on the chain under the first ref of a payment. */
function effectOf({ lanes }: World, id: string): Effect | undefined {
  const ref = refOf(id)
  for (const one of lanes.flatMap(({ deeds }) => deeds ?? []))
    if ((one.does === 'credit' || one.does === 'repay') && one.ref === ref && one.done)
      return { kind: one.does, wallet: one.wallet, micro: one.ausdMicro, held: one.held }
  return undefined
}

/** What was ordered of the relayer, and not done yet. */
function orderOf({ bus }: World, id: string): Effect | undefined {
  const order = bus.orders.get(id)
  return order && { ...order, micro: BigInt(order.ausd) }
}

/** What the provider was paid, for a row to be `paid`: what it ordered is asked for again, and known. */
async function factsOf(
  { provider }: World,
  { account, productId, amountMinor }: ListedMoney,
  { micro, held }: Effect,
): Promise<PaidFacts | undefined> {
  const charge = productId ? await provider.payment(account, productId) : undefined
  if (!charge || !amountMinor) return undefined
  const paidAt = charge.captures?.[0]?.capture_timestamp ?? charge.created ?? ''
  return {
    ...{ state: 'paid', held, live_micro: micro, paid_minor: amountMinor },
    ...{ provider_payment_id: charge.payment_id, channel: charge.channel_code },
    payment_request_id: charge.payment_request_id ?? null,
    paid_at: new Date(Date.parse(paidAt) || Date.now()),
  }
}

/** Nothing says what was promised but what was done: it counts as the promise. */
const fromEffect = (
  id: string,
  { account, currency, created }: ListedMoney,
  { kind, wallet, micro }: Effect,
  facts: PaidFacts,
): LostPayment => ({
  ...facts,
  ...{ id, account, wallet, currency, pair: `USD/${currency}`, ausd_micro: micro, method: null },
  kind: kind === 'credit' ? 'topup' : 'settlement',
  fiat_minor: facts.paid_minor,
  rate_minor_per_usd: (facts.paid_minor * 1_000_000n) / micro || 1n,
  ...{ quote_id: `lost:${id}`, taken_by: 'lost', created_at: created ?? new Date() },
})
