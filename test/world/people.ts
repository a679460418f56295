import type { Random } from '#infra/sandbox/random'
import {
  bank,
  blockedAccount,
  moodyAccount,
  pendingAccount,
  refusedAccount,
  reversedAccount,
} from '../support/requests'

// The only generator of users. A plan is data: a driver plays it, and the audit derives its required outcome.

export type Country = 'ID' | 'MY'
export const pairOf = { ID: 'USD/IDR', MY: 'USD/MYR' } as const
/** Channels whose money is credited at once, because it cannot be reversed by its payer. */
export const instantOf = { ID: 'QRIS', MY: 'MAYB2U_FPX' } as const

export type PaymentPlan = {
  readonly kind: 'topup' | 'settlement'
  readonly country: Country
  /** Code of the channel by which the user pays. */
  readonly channel: string
  /** Amount of a top-up in the smallest unit of its currency. A settlement is for the whole debt. */
  readonly amountMinor: number
  /** AUSD (10⁻⁶) that the user draws before a settlement. */
  readonly drawMicro: bigint
  /** AUSD (10⁻⁶) drawn after the checkout was opened, so that a second settlement replaces the first; 0 for none. */
  readonly drawAgainMicro: bigint
  readonly pays:
    | 'in time'
    | 'late'
    | 'never'
    | 'too little'
    | 'too much'
    | 'late and too little'
    | 'twice'
    | 'while cancelling'
    | 'after cancelling'
    /** Pays the first of two settlements, after the second replaced it. */
    | 'what was replaced'
  /** True if the payer's bank does not know them, which the provider tells of virtual accounts. */
  readonly isUnknown: boolean
}

export type CashoutPlan = {
  readonly kind: 'cashout'
  readonly country: 'ID'
  readonly valueMicro: bigint
  readonly accountNumber: string
  /** Number of requests that use the authorization at once. Only one may succeed. */
  readonly requests: 1 | 2
  /** When the user cancels the authorization on the chain, so that either transaction may come first. */
  readonly cancels: 'never' | 'during the request' | 'after the request'
  /** What happens on the chain after the request: another submits the signed transfer, or the user spends as much elsewhere. */
  readonly meanwhile: 'nothing' | 'submitted' | 'spent'
}

export type SendPlan = { readonly kind: 'send'; readonly valueMicro: bigint }
export type VerificationPlan = {
  readonly kind: 'verification'
  /** True if the user asks for the link of the identity provider before. */
  readonly begins: boolean
  /** Native coin that a newly verified wallet gets, once. */
  readonly dripWei: bigint
}
/** The user draws, and lets the debt be repaid automatically. */
export type AutoRepayPlan = {
  readonly kind: 'autorepay'
  readonly drawMicro: bigint
  readonly source: 'wallet' | 'collateral'
}

/** Actions of a user, without the external events (`fates.ts`). Amounts of AUSD are in 10⁻⁶. */
export type Plan = PaymentPlan | CashoutPlan | SendPlan | VerificationPlan | AutoRepayPlan

/** A kind of plan, with random amounts. */
export type Habit = {
  readonly name: string
  /** Share of the plans, relative to the others. */
  readonly weight: number
  /** False if a contract wallet cannot do this, because it sends no transactions. */
  readonly byContracts: boolean
  readonly plan: (chance: Random) => Plan
}

const rupiah = (chance: Random) => 20_000 + chance.belowMs(200) * 500
const sen = (chance: Random) => 800 + chance.belowMs(900)

export const topup = (change: Partial<PaymentPlan> = {}): PaymentPlan => ({
  kind: 'topup',
  country: 'ID',
  channel: 'QRIS',
  amountMinor: 50_000,
  drawMicro: 0n,
  drawAgainMicro: 0n,
  pays: 'in time',
  isUnknown: false,
  ...change,
})

export const settlement = (change: Partial<PaymentPlan> = {}): PaymentPlan =>
  topup({ kind: 'settlement', channel: 'BCA_VIRTUAL_ACCOUNT', amountMinor: 0, drawMicro: 2_000_000n, ...change })

export const cashout = (change: Partial<CashoutPlan> = {}): CashoutPlan => ({
  kind: 'cashout',
  country: 'ID',
  valueMicro: 2_000_000n,
  accountNumber: bank.accountNumber,
  requests: 1,
  cancels: 'never',
  meanwhile: 'nothing',
  ...change,
})

export const verification = (change: Partial<VerificationPlan> = {}): VerificationPlan => ({
  kind: 'verification',
  begins: false,
  dripWei: 0n,
  ...change,
})

export const autoRepay = (source: AutoRepayPlan['source'], drawMicro = 2_000_000n): AutoRepayPlan => ({
  kind: 'autorepay',
  drawMicro,
  source,
})

export const send = (valueMicro = 1_500_000n): SendPlan => ({ kind: 'send', valueMicro })

const tops =
  (change: Partial<PaymentPlan>): Habit['plan'] =>
  (chance) =>
    topup({ amountMinor: change.country === 'MY' ? sen(chance) : rupiah(chance), ...change })
const settles =
  (change: Partial<PaymentPlan>): Habit['plan'] =>
  (chance) =>
    settlement({ drawMicro: 200_000n + BigInt(chance.belowMs(300_000)), ...change })
/** Pays by a virtual account, in time or late. */
const byUnknown =
  (pays: (change: Partial<PaymentPlan>) => Habit['plan']): Habit['plan'] =>
  (chance) =>
    pays({
      channel: 'BCA_VIRTUAL_ACCOUNT',
      isUnknown: true,
      pays: chance.belowMs(2) === 0 ? 'in time' : 'late',
    })(chance)
const cashes =
  (change: Partial<CashoutPlan>): Habit['plan'] =>
  (chance) =>
    cashout({ valueMicro: 1_500_000n + BigInt(chance.belowMs(900_000)), ...change })

const habit = (name: string, weight: number, plan: Habit['plan'], byContracts = false): Habit => ({
  name,
  weight,
  byContracts,
  plan,
})

/** All kinds of plans. A new way of using the product is a row here. */
export const habits: readonly Habit[] = [
  habit('top-up by QR', 6, tops({}), true),
  habit('top-up by FPX', 2, tops({ country: 'MY', channel: 'MAYB2U_FPX' })),
  habit('top-up by virtual account', 1, tops({ channel: 'BCA_VIRTUAL_ACCOUNT' })),
  habit('top-up by card', 9, tops({ channel: 'CARDS' })),
  habit('top-up in ringgit by card', 2, tops({ country: 'MY', channel: 'CARDS' })),
  habit('top-up by e-wallet', 1, tops({ channel: 'DANA' })),
  habit('top-up by a channel that nobody knows', 0.5, tops({ channel: 'NOVELPAY' })),
  habit('top-up by a payer whom the bank does not know', 0.5, byUnknown(tops)),
  habit('top-up declined', 1, tops({ pays: 'never' })),
  habit('top-up paid late', 1, tops({ pays: 'late' })),
  habit('top-up paid too little', 0.5, tops({ pays: 'too little' })),
  habit('top-up paid too much', 0.5, tops({ pays: 'too much' })),
  habit('top-up paid late and too little', 0.3, tops({ pays: 'late and too little' })),
  habit('top-up paid twice', 0.5, tops({ pays: 'twice' })),
  habit('top-up paid while it is cancelled', 0.5, tops({ pays: 'while cancelling' })),
  habit('top-up paid after it was cancelled', 0.5, tops({ pays: 'after cancelling' })),
  habit('settlement paid twice', 0.3, settles({ pays: 'twice' })),
  habit('settlement paid while it is cancelled', 0.3, settles({ pays: 'while cancelling' })),
  habit('settlement by virtual account', 2, settles({})),
  habit('settlement by card', 4, settles({ channel: 'CARDS' })),
  habit('settlement declined', 0.5, settles({ pays: 'never' })),
  habit('settlement paid late', 0.7, settles({ pays: 'late' })),
  habit('settlement paid too little', 0.3, settles({ pays: 'too little' })),
  habit('settlement by a payer whom the bank does not know', 0.5, byUnknown(settles)),
  habit('settlement that replaces another', 0.4, settles({ drawAgainMicro: 300_000n })),
  habit(
    'settlement paid after another replaced it',
    0.4,
    settles({ drawAgainMicro: 300_000n, pays: 'what was replaced' }),
  ),
  habit('settlement paid too much', 0.5, settles({ pays: 'too much' })),
  habit('cash-out', 4, cashes({}), true),
  habit('cash-out to an account that the bank refuses', 1, cashes({ accountNumber: refusedAccount }), true),
  habit('cash-out to an account that the bank reverses', 1, cashes({ accountNumber: reversedAccount })),
  habit('cash-out to a bank that is late', 1, cashes({ accountNumber: pendingAccount }), true),
  habit('cash-out to an account that the provider refuses', 1, cashes({ accountNumber: blockedAccount })),
  habit('cash-out to an account that the provider often refuses', 1, cashes({ accountNumber: moodyAccount })),
  habit('cash-out whose transfer another submits', 1, cashes({ meanwhile: 'submitted' })),
  habit('cash-out of a user who spends as much elsewhere', 1, cashes({ meanwhile: 'spent' })),
  habit('cash-out asked for twice', 1, cashes({ requests: 2 })),
  habit('cash-out cancelled during its request', 0.5, cashes({ cancels: 'during the request' })),
  habit('cash-out cancelled after its request', 0.5, cashes({ cancels: 'after the request' })),
  habit('automatic repayment', 4, (chance) =>
    autoRepay(chance.belowMs(2) === 0 ? 'wallet' : 'collateral', 200_000n + BigInt(chance.belowMs(300_000))),
  ),
  habit('send', 2, (chance) => send(50_000n + BigInt(chance.belowMs(200_000))), true),
]

/** Chooses a row by its weight. */
export function weighted<T extends { readonly weight: number }>(rows: readonly T[], chance: Random): T {
  const whole = rows.reduce((sum, { weight }) => sum + weight, 0)
  // A million is fine enough for any weight.
  let left = (chance.belowMs(1_000_000) / 1_000_000) * whole
  for (const row of rows) {
    left -= row.weight
    if (left < 0) return row
  }
  return rows.at(-1)!
}
