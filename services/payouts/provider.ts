import type { ProviderMeaning } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import type { Reason } from './cashout'

/** What a provider's word means for us; a word we have never seen is `unknown`, never success. */
export type PayoutStatus = 'pending' | 'succeeded' | 'refused' | 'reversed' | 'unknown'

/** What the provider says about one payout, fetched with our own key. */
export type Evidence = {
  readonly payoutId: string
  readonly referenceId: string
  readonly status: PayoutStatus
  readonly word: string
  readonly failureCode: string | null
  /** Why it was not paid, in our words; null for a word of the provider that has none of them. */
  readonly reason: Reason | null
  readonly amountMinor: bigint | undefined
  readonly currency: string
}

/**
 * What we promised for a cash-out, as words. The provider keeps them beside the payout and shows them
 * to us alone: should our own row be lost with a disk, they say whose payout it is and what was taken.
 */
export type Promised = {
  readonly wallet: string
  readonly quote_id: string
  readonly taken_by: string
  readonly rate: string
  /** Basis points; left out when there is none: an order is the same words for ever. */
  readonly spread?: string
  readonly ausd: string
  readonly authorization_nonce: string
}

/** The provider's interfaces for payouts. One that was ordered through one is found through no other. */
export const payoutApis = ['v2', 'v3'] as const
export type PayoutApi = (typeof payoutApis)[number]

/** One transfer to a bank account. `id` is both reference and idempotency key, for ever. */
export type PayoutOrder = {
  readonly id: string
  readonly fiatMinor: bigint
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly promised: Promised
}

/** A bank that can be paid, with the provider's limits for one transfer. */
export type Channel = {
  readonly code: string
  readonly name: string
  readonly minMinor: bigint
  readonly maxMinor: bigint
  readonly incrementMinor: bigint
  /** Digits of its account numbers. */
  readonly accountDigits: readonly [min: number, max: number]
}

/** What a delivery says about payouts. A hint and no more: what it names is fetched with our key. */
export type Hint =
  | { about: 'payout'; payoutId: string }
  | { about: 'odd_payout'; event: string }
  | { about: 'other' }

/**
 * Where money leaves. What asks the provider throws `ProviderUnknown` when nobody knows whether it
 * acted, or when a look-up was not answered, and `ProviderBusy` when it certainly did not act.
 */
export type PayoutProvider = {
  /** What a new order goes through. One that was attempted before stays with its own. */
  readonly api: PayoutApi
  /** Orders a transfer, or answers with the one that was ordered before under the same id. */
  readonly create: (
    order: PayoutOrder,
    api: PayoutApi,
  ) => Promise<{ ok: Evidence } | { refused: { code: string; meaning: ProviderMeaning } }>
  readonly find: (payoutId: string) => Promise<Evidence | undefined>
  /** Empty only when the provider said so: an error or another answer is never "none". */
  readonly findByReference: (id: string, api: PayoutApi) => Promise<readonly Evidence[]>
  /** Every payout of the account that changed since then, all of them or an error. */
  readonly listTransactions: (updatedFrom: Date) => Promise<readonly Listed[]>
  /** Rupiah that there are to pay out, rounded down; never below 0. */
  readonly balance: () => Promise<bigint>
  readonly listChannels: () => Promise<readonly Channel[]>
  /** What a word means that this provider once said of a payout. */
  readonly statusOf: (word: string) => PayoutStatus
  /** Reads a delivery leniently; whatever cannot be read concerns nobody here, or a person. */
  readonly readDelivery: (body: string) => Hint
}
