import { Type } from 'typebox'
import type { Fiat, Money } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { toProviderAmount } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import type { Checkout, PaymentProvider } from '../../services/payments/provider'
import { xendit } from '../../services/payments/providers/xendit/client'
import { NotHere, type Waiting } from './step'

export type PaymentBench = {
  readonly account: ProviderAccount
  readonly client: ProviderClient
  /** A client with a wrong key. */
  readonly wrongKey: ProviderClient
  /** Client of the other country's account, or undefined without its key. */
  readonly neighbour: ProviderClient | undefined
  /** Opens a client with a separate call budget. */
  readonly open: (requestsPerMinute: number) => ProviderClient
  /** Chooses a channel. Throws `NotHere` without a payer. */
  readonly choose: (checkout: Checkout, channel: string) => Promise<void>
  /** Makes the provider return 429: `all` with no calls left, `stray` with some; undefined if impossible. */
  readonly limit: ((which: 'all' | 'stray' | 'none') => Promise<void>) | undefined
  /** Removes this address from the allow-list; undefined if impossible. */
  readonly forbidSender: ((on: boolean) => Promise<void>) | undefined
  /** Makes a chargeback and returns its id; undefined if impossible. */
  readonly chargeback: ((paymentId: string) => Promise<string>) | undefined
  readonly waiting: Waiting
}

export const providerOf = (client: ProviderClient): PaymentProvider =>
  xendit({ clients: { ID: client, MY: client }, appUrl: 'https://app.example.org/' })

/** Response of `POST /v3/payment_requests/{id}/simulate`, which pays the chosen channel in test mode. */
const Simulated = Type.Object({ status: Type.String() })

/** Pays a checkout in test mode. Channels that redirect the payer refuse the simulation; the payer completes those. */
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

/** Reads until the answer is good, and returns the last one, good or not, when time is up. */
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

export const needsPayer = () => new NotHere('needs a payer: run with --interactive')
