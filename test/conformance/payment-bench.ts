import { Type } from 'typebox'
import type { Fiat, Money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { toProviderAmount } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import type { Checkout, PaymentProvider } from '../../services/payments/provider'
import { xendit } from '../../services/payments/providers/xendit/client'
import { NotHere, type Waiting } from './step'

/** An account of the payment provider, as a suite needs it. */
export type PaymentBench = {
  readonly account: ProviderAccount
  readonly client: ProviderClient
  /** The same account with a wrong key. */
  readonly wrongKey: ProviderClient
  /** The account of the other country; undefined without a key for it. */
  readonly neighbour: ProviderClient | undefined
  /** Opens the account again, with a separate call budget. */
  readonly open: (requestsPerMinute: number) => ProviderClient
  /** Makes the payer choose this channel; throws `NotHere` without a payer. */
  readonly choose: (checkout: Checkout, channel: string) => Promise<void>
  /**
   * Makes the provider return 429: `all` with no calls left, `stray` with some; undefined if not
   * possible.
   */
  readonly limit: ((which: 'all' | 'stray' | 'none') => Promise<void>) | undefined
  /** Removes this address from the account's allow-list; undefined if not possible. */
  readonly forbidSender: ((on: boolean) => Promise<void>) | undefined
  /** Charges a payment back and returns the chargeback's id; undefined if not possible. */
  readonly chargeback: ((paymentId: string) => Promise<string>) | undefined
  readonly waiting: Waiting
}

/** The service's client for one account. */
export const providerOf = (client: ProviderClient): PaymentProvider =>
  xendit({ clients: { ID: client, MY: client }, appUrl: 'https://app.example.org/' })

/** `POST /v3/payment_requests/{id}/simulate`: pays the chosen channel in test mode. */
const Simulated = Type.Object({ status: Type.String() })

/**
 * Pays an open checkout: the payer chooses a channel, then test mode pays. Channels that redirect
 * the payer refuse the simulation; the payer completes those.
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

/** Polls until the answer is good or time is up; returns the last answer either way. */
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

/** Skips a step that needs a payer. */
export const needsPayer = () => new NotHere('needs a payer: run with --interactive')
