import { refOf } from '#shared/chain/ref'
import { idFor } from '#shared/ids'
import { type Fiat, money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { toAusdFloor } from '#shared/money/rate'
import { topupFeeFloor, topupFeesFrom, topupFeesOfMetadata, topupFeesText } from '#shared/money/topup-fee'
import type { PromisedPayment } from './known'
import type { ListedMoney } from './provider'
import {
  type ChargedFee,
  type FoundPayments,
  type LostPayment,
  minorOf,
  type PaidFacts,
  type PaidRest,
  type World,
  wordOf,
} from './world'

/** Returns the payment id of a provider's reference, which may end with `_` and the attempt. */
const paymentIdOf = (reference: string | null): string | undefined =>
  /^(pay_[A-Za-z0-9_-]{22})(_.*)?$/.exec(reference ?? '')?.[1]

/**
 * Finds paid payments without a row, or with an outdated one. The chain's effects are taken as they are: deciding again
 * could give another result, because of a later refund or another rate for late money.
 */
export async function findPayments(world: World): Promise<FoundPayments> {
  const found: FoundPayments = { rows: [], lines: [], undecided: [], paid: [] }
  const seen = new Set<string>()
  for (const checkoutId of world.checkouts) {
    const row = (await fromCheckout(world, 'ID', checkoutId)) ?? (await fromCheckout(world, 'MY', checkoutId))
    if (!row) found.undecided.push(`checkout ${checkoutId}: no metadata of ours`)
    if (!row || seen.has(row.id) || world.known.payments.has(row.id)) continue
    seen.add(row.id)
    add(found, row, 'the checkout in --checkout')
  }
  for (const [id, known] of world.known.uncredited) {
    const { account, state, provider_payment_id: productId, paid_minor: amountMinor } = known
    if (productId === null) continue
    // guard: a restore keeps the charge of a payment whose charge is known
    seen.add(id)
    // The order of a paid one is repeated, and the relayer recognises it.
    if (state !== 'paid') await findPaid(world, found, id, { account, productId, amountMinor })
  }
  for (const money of world.listed) {
    const id = money.type === 'payment' && money.status === 'succeeded' && paymentIdOf(money.reference)
    if (!id || seen.has(id)) continue
    seen.add(id)
    if (world.known.payments.has(id)) await findPaid(world, found, id, money)
    else await findLost(world, found, id, money)
  }
  return found
}

type Charged = Pick<ListedMoney, 'account' | 'productId' | 'amountMinor'>

function add(found: FoundPayments, row: LostPayment, from: string): void {
  found.rows.push(row)
  const worth = `${row.fiat_minor} ${row.currency} for ${row.ausd_micro} micro-AUSD`
  found.lines.push(`${row.kind} ${row.id} of ${row.wallet}: ${worth}, from ${from}`)
}

/** Decides on one paid payment, whose row may be older than its effect on the chain. */
async function findPaid(world: World, found: FoundPayments, id: string, money: Charged) {
  const promise = world.known.uncredited.get(id)
  const effect = promise && effectOf(world, id)
  const facts = effect && (await factsOf(world, money, effect))
  if (!promise || !effect || !facts) return
  const charged = { ...chargedFee(promise, effect.micro), ...restOf(promise, effect.micro, facts) }
  found.paid.push({ id, facts: { ...facts, ...charged } })
  found.lines.push(`payment ${id}: row is older than its effect on the chain`)
  recordWorth(found, id, charged.ausd_micro ?? promise.ausd_micro, effect.micro)
}

async function findLost(world: World, found: FoundPayments, id: string, money: ListedMoney) {
  const named = world.bus.checkouts.get(id)
  const promise = named && (await fromCheckout(world, named.account, named.checkoutId))
  const done = effectOf(world, id)
  const effect = done ?? (promise ? undefined : orderOf(world, id))
  const facts = effect && (await factsOf(world, money, effect))
  const charged = promise && done ? chargedFee(promise, done.micro) : {}
  const rest = promise && done && facts ? restOf(promise, done.micro, facts) : {}
  if (promise) add(found, { ...promise, ...charged, ...(facts ?? {}), ...rest }, 'its checkout')
  else if (effect && facts) add(found, fromEffect(id, money, effect, facts), 'chain or orders')
  else {
    const sum = `${money.amountMinor} ${money.currency} (smallest unit), ${money.productId}`
    const when = money.created?.toISOString()
    found.undecided.push(
      `payment ${id}: ${sum}, ${when}: owner unknown; find its checkout in the dashboard and add --checkout ps-…`,
    )
  }
  if (promise && done) recordWorth(found, id, charged.ausd_micro ?? promise.ausd_micro, done.micro)
}

/**
 * Returns the columns of the fee that explains a credit: the money less this fee is worth the credit. Empty if the whole promise
 * was credited, or if no fee explains the credit.
 */
function chargedFee(promise: PromisedPayment, micro: bigint): Partial<ChargedFee> {
  const { currency, fiat_minor, ausd_micro, rate_minor_per_usd: minorPerUsd, topup_fees } = promise
  if (ausd_micro === micro) return {}
  const fees = topupFeesFrom(topup_fees ?? '')
  const fee_minor = fees
    .map(({ channel }) => topupFeeFloor(fiat_minor, channel, fees))
    .find((feeMinor) => toAusdFloor(money(fiat_minor - feeMinor, currency), { minorPerUsd, currency }).minor === micro)
  return fee_minor === undefined ? {} : { fee_minor, ausd_micro: micro, promised_micro: ausd_micro }
}

/** Returns the columns of a settlement that repaid what it promised, and was paid with more. Empty for any other payment. */
function restOf(
  { kind, fiat_minor, ausd_micro }: Pick<PromisedPayment, 'fiat_minor' | 'ausd_micro'> & Pick<LostPayment, 'kind'>,
  micro: bigint,
  { paid_minor }: Pick<PaidFacts, 'paid_minor'>,
): Partial<PaidRest> {
  if (kind !== 'settlement' || ausd_micro !== micro || paid_minor <= fiat_minor) return {}
  return { paid_minor: fiat_minor, overpaid_minor: paid_minor - fiat_minor }
}

/**
 * Reports different committed and credited amounts, which occur after late money, a partial refund, or a recovered
 * loss.
 */
function recordWorth(found: FoundPayments, id: string, promised: bigint, micro: bigint): void {
  if (promised === micro) return
  found.undecided.push(
    `payment ${id}: ${promised} micro-AUSD promised, ${micro} on chain; find out why and correct the row`,
  )
}

/** Rebuilds a row from checkout metadata. The service then looks up its outcome. */
async function fromCheckout(
  { provider }: World,
  account: ProviderAccount,
  checkoutId: string,
): Promise<(LostPayment & PromisedPayment) | undefined> {
  const session = await provider.checkout(account, checkoutId)
  const words = session?.metadata
  const id = paymentIdOf(session?.reference_id ?? null)
  if (!session || !id || idFor('payment', wordOf(words, 'quote_id')) !== id) return undefined
  const end = Date.parse(session.expires_at ?? '')
  return {
    id,
    account,
    state: 'expired',
    kind: wordOf(words, 'kind') as LostPayment['kind'],
    wallet: wordOf(words, 'wallet'),
    method: wordOf(words, 'method') || null,
    currency: session.currency as Fiat,
    pair: `USD/${session.currency}`,
    fiat_minor: minorOf(session.amount, session.currency),
    ausd_micro: BigInt(wordOf(words, 'ausd')),
    rate_minor_per_usd: BigInt(wordOf(words, 'rate')),
    spread_bps: BigInt(wordOf(words, 'spread') || 0),
    topup_fees: topupFeesText(topupFeesOfMetadata((name) => wordOf(words, name))) || null,
    quote_id: wordOf(words, 'quote_id'),
    request_fingerprint: wordOf(words, 'request_fingerprint'),
    checkout_id: session.payment_session_id,
    checkout_url: session.payment_link_url ?? null,
    expires_at: Number.isNaN(end) ? new Date() : new Date(end),
    created_at: new Date(Date.parse(session.created ?? '') || Date.now()),
  }
}

type Effect = { kind: 'credit' | 'repay'; wallet: string; micro: bigint; held: boolean }

/** Finds the effect of the payment's first ref. Further refs are not searched. */
function effectOf({ lanes }: World, id: string): Effect | undefined {
  const ref = refOf(id)
  for (const one of lanes.flatMap(({ actions }) => actions ?? []))
    if ((one.does === 'credit' || one.does === 'repay') && one.ref === ref && one.done)
      return { kind: one.does, wallet: one.wallet, micro: one.ausdMicro, held: one.held }
  return undefined
}

function orderOf({ bus }: World, id: string): Effect | undefined {
  const order = bus.orders.get(id)
  return order && { ...order, micro: BigInt(order.ausd) }
}

/** Returns the facts of a paid row. The service sends its order again, and the relayer recognises it. */
async function factsOf(
  { provider }: World,
  { account, productId, amountMinor }: Charged,
  { micro, held }: Effect,
): Promise<PaidFacts | undefined> {
  const charge = productId ? await provider.payment(account, productId) : undefined
  if (!charge || !amountMinor) return undefined
  const paidAt = charge.captures?.[0]?.capture_timestamp ?? charge.created ?? ''
  return {
    state: 'paid',
    held,
    onchain_micro: micro,
    paid_minor: amountMinor,
    provider_payment_id: charge.payment_id,
    channel: charge.channel_code,
    payment_request_id: charge.payment_request_id ?? null,
    paid_at: new Date(Date.parse(paidAt) || Date.now()),
  }
}

/** Builds a row from an effect, the only source that still has the committed amount. */
const fromEffect = (
  id: string,
  { account, currency, created }: ListedMoney,
  { kind, wallet, micro }: Effect,
  facts: PaidFacts,
): LostPayment => ({
  ...facts,
  id,
  account,
  wallet,
  currency,
  pair: `USD/${currency}`,
  ausd_micro: micro,
  method: null,
  kind: kind === 'credit' ? 'topup' : 'settlement',
  fiat_minor: facts.paid_minor,
  rate_minor_per_usd: (facts.paid_minor * 1_000_000n) / micro || 1n,
  quote_id: `lost:${id}`,
  request_fingerprint: 'lost',
  created_at: created ?? new Date(),
})
