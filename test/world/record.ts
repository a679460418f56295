import type { Address, Hex } from 'viem'
import type { Outcome } from './fates'
import type { AutoRepayPlan, CashoutPlan, PaymentPlan, SendPlan, VerificationPlan } from './people'

/** Money of a payment that was, or may have been, on its way back. Times are Unix ms of this machine. */
export type Doubt = {
  /** Id of the refund or chargeback; the payment's own for a void or an unclear status. */
  readonly object: string
  /** Amount in minor units of the payment's currency; null for all of it. */
  readonly minor: bigint | null
  /** Time by which the provider's API shows it. */
  readonly fromMs: number
  /** Time by which it shows that the money will not come back of itself; null while that is open, as during a dispute. */
  goneMs: number | null
  /** Time at which the provider may have stopped showing it; null while it does. */
  toMs: number | null
}

type Promised = { readonly id: string; readonly ausdMicro: bigint; readonly fiatMinor: bigint }

type Common = {
  readonly wallet: Address
  /** Name of the fate, for reports. */
  readonly fate: string
  readonly requires: Outcome
  /** Time of the first request in Unix ms. */
  readonly askedAtMs: number
  /** Code of the refusal, or null if the request was not refused. */
  refused: string | null
  /** True once every event of plan and fate has taken place. Before, the audit does not ask for the outcome. */
  isPlayed: boolean
  /** Event of the fate that the sandbox refused, with its reason, so that the fate did not take place; otherwise null. */
  refusedEvent: string | null
}

export type PaymentDeed = Common & {
  readonly kind: 'topup' | 'settlement'
  readonly plan: PaymentPlan
  readonly pair: 'USD/IDR' | 'USD/MYR'
  /** The response, or null until there is one. */
  answer: Promised | null
  readonly doubts: Doubt[]
}

export type CashoutDeed = Common & {
  readonly kind: 'cashout'
  readonly plan: CashoutPlan
  readonly nonce: Hex
  readonly valueMicro: bigint
  answer: Promised | null
}

export type SendDeed = Common & {
  readonly kind: 'send'
  readonly plan: SendPlan
  readonly to: Address
  readonly nonce: Hex
  readonly valueMicro: bigint
  answer: { readonly id: string } | null
}

export type VerificationDeed = Common & {
  readonly kind: 'verification'
  readonly plan: VerificationPlan
  answer: null
}

export type AutoRepayDeed = Common & {
  readonly kind: 'autorepay'
  readonly plan: AutoRepayPlan
  answer: null
}

/** A request, recorded before it is sent. Amounts are in 10⁻⁶ AUSD and minor units of fiat. */
export type WorldDeed = PaymentDeed | CashoutDeed | SendDeed | VerificationDeed | AutoRepayDeed

export type Record = {
  readonly deeds: readonly WorldDeed[]
  readonly note: <D extends WorldDeed>(deed: D) => D
  /** Counts by `200`, an error code, or `no answer`. */
  readonly answers: ReadonlyMap<string, number>
  readonly count: (answer: string) => void
  readonly errors: Set<string>
}

export function openRecord(): Record {
  const deeds: WorldDeed[] = []
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
