import type { Address, Hex } from 'viem'

/**
 * What people did, written down by their side before it is asked for: the audit counts from this, from
 * the provider's book and from the chain, and from nothing that the service says of itself but its answers.
 * Amounts are 10⁻⁶ AUSD and minor units of the fiat currency.
 */
export type Deed = PaymentDeed | CashoutDeed | SendDeed

export type PaymentDeed = {
  readonly kind: 'topup' | 'settlement'
  readonly wallet: Address
  /** What the service answered; null while no answer came. */
  answer: Promised | null
  /** What was done to the payment afterwards, in the person's or the provider's name. */
  readonly after: Set<'paid' | 'declined' | 'expired first' | 'refunded' | 'charged back'>
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

/** What the service said it would do. */
type Promised = { readonly id: string; readonly ausdMicro: bigint; readonly fiatMinor: bigint }

export type Record = {
  readonly deeds: readonly Deed[]
  readonly note: <D extends Deed>(deed: D) => D
  /** Requests by what became of them: `200`, a refusal's word, or `no answer`. */
  readonly answers: ReadonlyMap<string, number>
  readonly count: (answer: string) => void
  /** The bodies of refusals and errors, each once. */
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
