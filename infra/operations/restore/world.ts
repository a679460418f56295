import type { SignedTransfer } from '#shared/chain/erc3009'
import type { Fiat } from '#shared/money/money'
import { fromProviderAmount } from '#shared/provider/amount'
import type { RetainedMessages } from './bus'
import type { KnownRows } from './known'
import type { LaneTransaction } from './lane'
import type { ListedMoney, Provider } from './provider'

export type LostPayment = Record<string, string | bigint | boolean | Date | null | undefined> & {
  id: string
  kind: 'topup' | 'settlement'
  wallet: string
  /** Of a settlement that was paid with too much, the rest. */
  overpaid_minor?: bigint
}
/** Columns of a `paid` row, from provider and chain. */
export type PaidFacts = {
  state: 'paid'
  held: boolean
  onchain_micro: bigint
  paid_minor: bigint
  provider_payment_id: string
  payment_request_id: string | null
  channel: string
  paid_at: Date
} & Partial<ChargedFee> &
  Partial<PaidRest>
/** Columns of a top-up that paid a fee. */
export type ChargedFee = { fee_minor: bigint; ausd_micro: bigint; promised_micro: bigint }
/** Columns of a settlement that was paid with too much: the part that counts, and the rest, about which an operator decides. */
export type PaidRest = { paid_minor: bigint; overpaid_minor: bigint }
export type LostPayout = {
  id: string
  state: 'paying' | 'returning' | 'failed'
  wallet: string
  ausdMicro: bigint
  fiatMinor: bigint
  feeMinor: bigint
  rateMinorPerUsd: bigint
  spreadBps: bigint
  quoteId: string
  requestFingerprint: string
  authorization: SignedTransfer
  channelCode: string
  providerPayoutId: string | null
  reason: string | null
  takeTxHash: string | null
  createdAt: Date
}
export type LostRows<Row> = { rows: Row[]; lines: string[]; undecided: string[] }

export type FoundReturns = {
  /** Present cash-outs whose return was ordered since the backup. */
  returns: string[]
  /** Those of them that a bank was paid for, with the ids of the messages that must have no effect. */
  dropped: { id: string; messageIds: readonly string[] }[]
  lines: string[]
  undecided: string[]
}

/** Result of the search. `paid` has the present rows that are older than their effect on the chain. */
export type FoundPayments = LostRows<LostPayment> & { paid: { id: string; facts: PaidFacts }[] }

export type World = {
  known: KnownRows
  bus: RetainedMessages
  provider: Provider
  listed: readonly ListedMoney[]
  lanes: readonly LaneTransaction[]
  treasury: string
  /** Operator's decisions: checkouts found in the dashboard, and takes to return. */
  checkouts: readonly string[]
  giveBack: readonly string[]
}

/** Converts an amount of the provider to the currency's smallest unit. Throws if it has too many decimals. */
export const minorOf = (amount: { decimal: string }, currency: string): bigint => {
  const exact = fromProviderAmount(amount, currency as Fiat)
  if (!exact) throw new Error(`${amount.decimal} ${currency} has too many decimals`)
  return exact.minor
}
/** Returns a string of the metadata, or an empty one if it is missing. */
export const wordOf = (words: Record<string, unknown> | null | undefined, name: string): string => {
  const word = words?.[name]
  return typeof word === 'string' ? word : ''
}
