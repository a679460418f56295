import type { Address, Hex } from 'viem'

/** Fate of the money of a paid payment, which `fates` plays. */
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

/** A request, recorded before it is sent. Amounts are in 10⁻⁶ AUSD and minor units of fiat. */
export type CampaignDeed = PaymentDeed | CashoutDeed | SendDeed

export type PaymentDeed = {
  readonly kind: 'topup' | 'settlement'
  readonly wallet: Address
  readonly pair: 'USD/IDR' | 'USD/MYR'
  /** The response, or null until there is one. */
  answer: Promised | null
  /** Events at the provider; `came back` means that the money was reversed, and may have returned to us. */
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

type Promised = { readonly id: string; readonly ausdMicro: bigint; readonly fiatMinor: bigint }

export type Record = {
  readonly deeds: readonly CampaignDeed[]
  readonly note: <D extends CampaignDeed>(deed: D) => D
  /** Counts by `200`, an error code, or `no answer`. */
  readonly answers: ReadonlyMap<string, number>
  readonly count: (answer: string) => void
  readonly errors: Set<string>
}

export function openRecord(): Record {
  const deeds: CampaignDeed[] = []
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
