import type { ProviderMeaning } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import type { Reason } from './cashout'

/** Status of a payout; an unrecognised provider status is `unknown`, never success. */
export type PayoutStatus = 'pending' | 'succeeded' | 'refused' | 'reversed' | 'unknown'

/** A payout at the provider, fetched with our own key. */
export type Evidence = {
  readonly payoutId: string
  readonly referenceId: string
  readonly status: PayoutStatus
  readonly word: string
  readonly failureCode: string | null
  /** Our reason for the failure; null if the provider's code has no mapping. */
  readonly reason: Reason | null
  readonly amountMinor: bigint | undefined
  readonly currency: string
}

/**
 * Our promise for a cash-out, stored in the payout's metadata at the provider. Only we can read it;
 * if our row is lost with a disk, it identifies the wallet and the AUSD taken.
 */
export type Promised = {
  readonly wallet: string
  readonly quote_id: string
  readonly request_fingerprint: string
  readonly rate: string
  /** Basis points; omitted if zero, so that the body of an order never changes. */
  readonly spread?: string
  readonly ausd: string
  readonly authorization_nonce: string
}

/**
 * The provider's payout API versions. A payout ordered through one cannot be found through another.
 */
export const payoutApis = ['v2', 'v3'] as const
export type PayoutApi = (typeof payoutApis)[number]
/** Versions that a deployment may have used, that of new orders first. */
export type PayoutApis = readonly [newest: PayoutApi, ...earlier: PayoutApi[]]

/** One transfer to a bank account. `id` is permanently both reference and idempotency key. */
export type PayoutOrder = {
  readonly id: string
  readonly fiatMinor: bigint
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly promised: Promised
}

/** A bank account and the holder name that the user gave. */
export type BankAccountOfHolder = Pick<
  PayoutOrder,
  'channelCode' | 'accountNumber' | 'accountHolderName'
>

/** A bank the provider can pay, with its limits per transfer. */
export type Channel = {
  readonly code: string
  readonly name: string
  readonly minMinor: bigint
  readonly maxMinor: bigint
  readonly incrementMinor: bigint
  /** Length of its account numbers. */
  readonly accountDigits: readonly [min: number, max: number]
}

/** Subject of a webhook. Only a hint: the payout it names is fetched with our own key. */
export type Hint =
  | { about: 'payout'; payoutId: string }
  | { about: 'odd_payout'; event: string }
  | { about: 'other' }

/** Whether a bank account has a given holder. */
export type HolderVerdict = 'match' | 'no_match' | 'cannot_tell'

/**
 * The payout provider. Calls throw `ProviderUnknown` if it is unknown whether the provider acted,
 * or if a lookup failed, and `ProviderBusy` if it certainly did not act.
 */
export type PayoutProvider = {
  /** API version of new orders, and those used before: an order attempted before keeps its own. */
  readonly apis: PayoutApis
  /** Orders a transfer, or returns the one already ordered under the same id. */
  readonly create: (
    order: PayoutOrder,
    api: PayoutApi,
  ) => Promise<{ ok: Evidence } | { refused: { code: string; meaning: ProviderMeaning } }>
  readonly find: (payoutId: string) => Promise<Evidence | undefined>
  /** Returns an empty list only on a conclusive "none"; any other response throws. */
  readonly findByReference: (id: string, api: PayoutApi) => Promise<readonly Evidence[]>
  /** Returns all payouts of the account changed since, or throws. */
  readonly listTransactions: (agoMs: number) => Promise<readonly Listed[]>
  /** Returns the available rupiah, rounded down; never below 0. */
  readonly balance: () => Promise<bigint>
  /**
   * Compares the holder of a bank account with the given name; neither leaves the adapter. It may throw,
   * which is no verdict.
   */
  readonly checkHolder: (account: BankAccountOfHolder) => Promise<HolderVerdict>
  readonly listChannels: () => Promise<readonly Channel[]>
  /** Maps a stored provider status. */
  readonly statusOf: (word: string) => PayoutStatus
  /** Parses a webhook leniently, without errors: unreadable ones are `odd_payout` or `other`. */
  readonly readDelivery: (body: string) => Hint
}
