import type { Address, Hex } from 'viem'

/** What happens to the money of a payment after it has been paid; `fates` plays each. */
export type Fate =
  | 'refunded'
  | 'refunded late'
  | 'refund bounced'
  | 'charged back'
  | 'dispute grew'
  | 'dispute opened'
  | 'dispute won'
  | 'disputed abroad'
  | 'disputed and refunded'
  | 'voided'
  | 'doubtful'

/**
 * A user's action, recorded on the user's side before the request. The audit uses these records,
 * the provider's book and the chain; of the service it uses only the responses. Amounts are 10⁻⁶
 * AUSD and minor units of the fiat currency.
 */
export type Deed = PaymentDeed | CashoutDeed | SendDeed

export type PaymentDeed = {
  readonly kind: 'topup' | 'settlement'
  readonly wallet: Address
  readonly pair: 'USD/IDR' | 'USD/MYR'
  /** Response of the service; null until there is one. */
  answer: Promised | null
  /**
   * Actions on the payment at the provider, by the user or the provider; `came back`: money of it
   * went back, and may have come back to us.
   */
  readonly after: Set<'paid' | 'declined' | 'expired first' | 'came back' | Fate>
}

export type CashoutDeed = {
  readonly kind: 'cashout'
  readonly wallet: Address
  readonly nonce: Hex
  readonly valueMicro: bigint
  answer: Promised | null
}

export type SendDeed = {
  readonly kind: 'send'
  readonly wallet: Address
  readonly to: Address
  readonly nonce: Hex
  readonly valueMicro: bigint
  answer: { readonly id: string } | null
}

/** Amounts in an accepting response. */
type Promised = { readonly id: string; readonly ausdMicro: bigint; readonly fiatMinor: bigint }

export type Record = {
  readonly deeds: readonly Deed[]
  readonly note: <D extends Deed>(deed: D) => D
  /** Number of requests by result: `200`, an error code, or `no answer`. */
  readonly answers: ReadonlyMap<string, number>
  readonly count: (answer: string) => void
  /** Distinct bodies of error responses. */
  readonly errors: Set<string>
}

export function openRecord(): Record {
  const deeds: Deed[] = []
  const answers = new Map<string, number>()
  return {
    deeds,
    answers,
    errors: new Set(),
    note: (deed) => {
      deeds.push(deed)
      return deed
    },
    count: (answer) => void answers.set(answer, (answers.get(answer) ?? 0) + 1),
  }
}
