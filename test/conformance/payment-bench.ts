import { Type } from 'typebox'
import type { Fiat, Money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { toProviderAmount } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import type { Checkout, PaymentProvider } from '../../services/payments/provider'
import { xendit } from '../../services/payments/providers/xendit/client'
import { NotHere, type Waiting } from './step'

/** One account of the payment provider, as a suite needs it. */
export type PaymentBench = {
  readonly account: ProviderAccount
  readonly client: ProviderClient
  /** The same account behind a key that nobody has. */
  readonly wrongKey: ProviderClient
  /** The account of the other country; undefined when there is no key for it. */
  readonly neighbour: ProviderClient | undefined
  /** Opens the account anew, with a budget of its own. */
  readonly open: (requestsPerMinute: number) => ProviderClient
  /** The payer chooses this channel; throws `NotHere` when nobody is there to do it. */
  readonly choose: (checkout: Checkout, channel: string) => Promise<void>
  /** Makes the provider answer 429: `all` with nothing left, `stray` with calls left; undefined where nobody can. */
  readonly limit: ((which: 'all' | 'stray' | 'none') => Promise<void>) | undefined
  /** Puts us outside the account's allow-list of addresses; undefined where nobody can. */
  readonly forbidSender: ((on: boolean) => Promise<void>) | undefined
  /** Charges a payment back and answers the chargeback's id; undefined where nobody can. */
  readonly chargeback: ((paymentId: string) => Promise<string>) | undefined
  readonly waiting: Waiting
}

/** The client of the service, over one account. */
export const providerOf = (client: ProviderClient): PaymentProvider =>
  xendit({ clients: { ID: client, MY: client }, appUrl: 'https://app.example.org/' })

/** `POST /v3/payment_requests/{id}/simulate`: test mode's payer of what was chosen. */
const Simulated = Type.Object({ status: Type.String() })

/**
 * Pays an open checkout: the payer chooses a channel, then test mode's own simulation pays. Channels
 * that lead the payer elsewhere refuse the simulation; then the payer ends it there.
 */
export async function pay(
  bench: PaymentBench,
  { checkout, fiat, channel }: { checkout: Checkout; fiat: Money<Fiat>; channel: string },
) {
  const provider = providerOf(bench.client)
  const read = () => provider.findCheckout(bench.account, checkout.checkoutId)
  await bench.choose(checkout, channel)
  const chosen = await until(bench.waiting, read, (seen) => seen?.paymentRequestId !== null)
  if (chosen?.status === 'open')
    await bench.client.post(`/v3/payment_requests/${chosen.paymentRequestId}/simulate`, {
      schema: Simulated,
      apiVersion: '2024-11-11',
      body: { amount: toProviderAmount(fiat) },
    })
  return until(bench.waiting, read, (seen) => seen?.status === 'completed')
}

/** Asks until the answer is good or time is up, and gives the last answer either way. */
export async function until<T>(
  { deadlineMs, everyMs }: Waiting,
  read: () => Promise<T>,
  isGood: (seen: T) => boolean,
): Promise<T> {
  const endsAt = Date.now() + deadlineMs
  for (;;) {
    const seen = await read()
    if (isGood(seen) || Date.now() >= endsAt) return seen
    await Bun.sleep(everyMs)
  }
}

/** What is said where a person would have to pay and none is asked to. */
export const needsPayer = () => new NotHere('needs a payer: run with --interactive')
