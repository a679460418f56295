import type { ProblemMeaning } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import type { Reason } from './cashout'

/** An unrecognised provider status is `unknown`, never success. */
export type PayoutStatus = 'pending' | 'succeeded' | 'refused' | 'reversed' | 'unknown'

/** Fetched with our own key. */
export type Evidence = {
  readonly payoutId: string
  readonly referenceId: string
  readonly status: PayoutStatus
  readonly word: string
  readonly failureCode: string | null
  /** Null if the provider's code has no mapping. */
  readonly reason: Reason | null
  readonly amountMinor: bigint | undefined
  readonly currency: string
}

/** Metadata at the provider that only we can read; it replaces a row lost with a disk. */
export type Promised = {
  readonly wallet: string
  readonly quote_id: string
  readonly request_fingerprint: string
  readonly rate: string
  /** Basis points; omitted if zero, so that an order's body never changes. */
  readonly spread?: string
  readonly ausd: string
  readonly authorization_nonce: string
}

/** A payout of one version cannot be found through another. */
export const payoutApis = ['v2', 'v3'] as const
export type PayoutApi = (typeof payoutApis)[number]
export type PayoutApis = readonly [newest: PayoutApi, ...earlier: PayoutApi[]]

/** `id` is both reference and idempotency key. */
export type PayoutOrder = {
  readonly id: string
  readonly fiatMinor: bigint
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly promised: Promised
}

export type BankAccountOfHolder = Pick<PayoutOrder, 'channelCode' | 'accountNumber' | 'accountHolderName'>

/** Limits are per transfer. */
export type PayoutChannel = {
  readonly code: string
  readonly name: string
  readonly minMinor: bigint
  readonly maxMinor: bigint
  readonly incrementMinor: bigint
  readonly accountDigits: readonly [min: number, max: number]
}

/** A hint only: the payout is fetched with our own key. */
export type Hint = { about: 'payout'; payoutId: string } | { about: 'odd_payout'; event: string } | { about: 'other' }

export type HolderVerdict = 'match' | 'no_match' | 'cannot_tell'

/** Calls throw `ProviderBusy` if the provider certainly did not act, else `ProviderUnknown`. */
export type PayoutProvider = {
  /** That of new orders first; an attempted order keeps its own. */
  readonly apis: PayoutApis
  /** Also returns the transfer already ordered under the same id. */
  readonly create: (
    order: PayoutOrder,
    api: PayoutApi,
  ) => Promise<{ ok: Evidence } | { refused: { code: string; meaning: ProblemMeaning } }>
  readonly find: (payoutId: string) => Promise<Evidence | undefined>
  /** Empty only on a conclusive "none"; any other response throws. */
  readonly findByReference: (id: string, api: PayoutApi) => Promise<readonly Evidence[]>
  readonly listTransactions: (agoMs: number) => Promise<readonly Listed[]>
  /** Available rupiah, rounded down, at least 0. */
  readonly balance: () => Promise<bigint>
  /** Neither name leaves the adapter. A throw is no verdict. */
  readonly checkHolder: (account: BankAccountOfHolder) => Promise<HolderVerdict>
  readonly listChannels: () => Promise<readonly PayoutChannel[]>
  readonly statusOf: (word: string) => PayoutStatus
  /** Never throws: an unreadable webhook is `odd_payout` or `other`. */
  readonly readDelivery: (body: string) => Hint
}
