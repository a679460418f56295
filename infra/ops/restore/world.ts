import type { SignedTransfer } from '#shared/chain/erc3009'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount } from '#shared/provider/amount'
import type { Bus } from './bus'
import type { Known } from './known'
import type { LaneTransaction } from './lane'
import type { ListedMoney, Provider } from './provider'

/** A row of `payments.payments` to be put back. */
export type LostPayment = Record<string, string | bigint | boolean | Date | null> & {
  id: string
  kind: 'topup' | 'settlement'
  wallet: string
}
/** What makes a row of `payments.payments` `paid`, by the provider and by the chain. */
export type PaidFacts = {
  state: 'paid'
  held: boolean
  live_micro: bigint
  paid_minor: bigint
  provider_payment_id: string
  payment_request_id: string | null
  channel: string
  paid_at: Date
}
/** A row of `payouts.payouts` to be put back. */
export type LostPayout = {
  id: string
  state: 'paying' | 'returning' | 'failed'
  wallet: string
  ausdMicro: bigint
  fiatMinor: bigint
  rateMinorPerUsd: bigint
  spreadBps: bigint
  quoteId: string
  takenBy: string
  authorization: SignedTransfer
  channelCode: string
  providerPayoutId: string | null
  reason: string | null
  takeTxHash: string | null
  createdAt: Date
}
/** What is put back, what only a person can decide, and why each row is what it is. */
export type Found<Row> = { rows: Row[]; told: string[]; undecided: string[] }

/** Beside the lost rows those that are there, from before the chain acted for them. */
export type FoundPayments = Found<LostPayment> & { paid: { id: string; facts: PaidFacts }[] }

/** Everything there is to learn from. */
export type World = {
  known: Known
  bus: Bus
  provider: Provider
  listed: readonly ListedMoney[]
  lanes: readonly LaneTransaction[]
  treasury: string
  /** What a person told: checkouts that were found elsewhere, and takes to give back. */
  checkouts: readonly string[]
  giveBack: readonly string[]
}

/** An amount of the provider in the currency's smallest unit. */
export const minorOf = (amount: { decimal: string }, currency: string): bigint => {
  const exact = fromProviderAmount(amount, currency as Fiat)
  if (!exact) throw new Error(`${amount.decimal} ${currency} is not a whole smallest unit`)
  return exact.minor
}
/** An entry of what was promised; empty when it is not there. */
export const wordOf = (words: Record<string, unknown> | null | undefined, name: string): string => {
  const word = words?.[name]
  return typeof word === 'string' ? word : ''
}
