import type { PayoutStatus } from '#shared/provider/payout'
import type { ProblemMeaning } from '#shared/provider/problem'
import type { Listed } from '#shared/provider/transactions'
import type { Reason } from './cashout'

/** Payout as fetched with our own key. */
export type Evidence = {
  readonly payoutId: string
  readonly referenceId: string
  readonly status: PayoutStatus
  readonly word: string
  readonly failureCode: string | null
  /** Reason of a failure; null if the provider's code has no mapping. */
  readonly reason: Reason | null
  readonly amountMinor: bigint | undefined
  readonly currency: string
  /** Set if the payout's row in the list of transactions says that its money is in the account again. */
  readonly isListedAsFailed?: true
}

/** Our promise, in metadata at the provider that only we can read. It replaces a row that was lost with a disk. */
export type Promised = {
  readonly wallet: string
  readonly quote_id: string
  readonly request_fingerprint: string
  readonly rate: string
  /** Spread in basis points; omitted if zero, so that an order's body never changes. */
  readonly spread?: string
  readonly ausd: string
  readonly authorization_nonce: string
}

/** API versions for payouts. A payout of one version cannot be found through another. */
export const payoutApis = ['v2', 'v3'] as const
export type PayoutApi = (typeof payoutApis)[number]
export type PayoutApis = readonly [newest: PayoutApi, ...earlier: PayoutApi[]]

/** Order of a payout. `id` is both its reference and its idempotency key. */
export type PayoutOrder = {
  readonly id: string
  readonly fiatMinor: bigint
  readonly channelCode: string
  readonly accountNumber: string
  readonly accountHolderName: string
  readonly promised: Promised
}

export type BankAccountOfHolder = Pick<PayoutOrder, 'channelCode' | 'accountNumber' | 'accountHolderName'>

/** Bank that the provider pays, with limits per transfer. */
export type PayoutChannel = {
  readonly code: string
  readonly name: string
  readonly minMinor: bigint
  readonly maxMinor: bigint
  readonly incrementMinor: bigint
  readonly accountDigits: readonly [min: number, max: number]
}

/** Content of a webhook. It is only a hint: the payout is fetched with our own key. */
export type Hint = { about: 'payout'; payoutId: string } | { about: 'odd_payout'; event: string } | { about: 'other' }

export type HolderVerdict = 'match' | 'no_match' | 'cannot_tell'

/**
 * Port to a payout provider. Calls throw `ProviderBusy` if the provider certainly did not act, otherwise
 * `ProviderUnknown`.
 */
export type PayoutProvider = {
  /** API versions in use, that of new orders first; an order that was attempted keeps its own. */
  readonly apis: PayoutApis
  /** Orders a transfer, and also returns the transfer already ordered under the same id. */
  readonly create: (
    order: PayoutOrder,
    api: PayoutApi,
  ) => Promise<{ ok: Evidence } | { refused: { code: string; meaning: ProblemMeaning } }>
  readonly find: (payoutId: string) => Promise<Evidence | undefined>
  /** Returns an empty list only if the provider's "none" is conclusive; any other response throws. */
  readonly findByReference: (id: string, api: PayoutApi) => Promise<readonly Evidence[]>
  readonly listTransactions: (agoMs: number) => Promise<readonly Listed[]>
  /** Returns the available rupiah, rounded down, at least 0. */
  readonly balance: () => Promise<bigint>
  /** Compares the holder's name with the bank's; neither name leaves the adapter. An error is no verdict. */
  readonly checkHolder: (account: BankAccountOfHolder) => Promise<HolderVerdict>
  readonly listChannels: () => Promise<readonly PayoutChannel[]>
  readonly statusOf: (word: string) => PayoutStatus
  /** Reads a webhook. Never throws: an unreadable webhook is `odd_payout` or `other`. */
  readonly readDelivery: (body: string) => Hint
}
