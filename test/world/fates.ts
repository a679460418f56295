import { bank, blockedAccount, pendingAccount, refusedAccount, reversedAccount } from '../support/requests'
import type { Plan } from './people'

// External events, as data. A public report becomes one row here: its events, and the outcome that they require.

/** Part of the payment's amount, such as 0.5 or 1.1, or the range from which it is drawn. Without it, all that is left. */
export type Share = number | readonly [least: number, most: number]
type Body = { readonly [field: string]: string | number | boolean }

/** Statuses of an object itself, and of its row in the list. An empty object shows the real ones. */
type Shown = { readonly status?: string; readonly listed?: string }

/** Which of the opened objects an event moves, counted from 0. Without it, the one that was opened last. */
type Of = { readonly of?: number }

/**
 * One external event. Later events may move what was opened for a payment: a refund; a chargeback, which only the list shows;
 * or a dispute, which the provider announces by webhook.
 */
export type Event =
  /** Waits up to this time in ms. */
  | { readonly rest: number }
  /** Waits until the user sees the item in this status. If it ends in another, the later events do not happen. */
  | { readonly until: string }
  | {
      readonly open: 'refund' | 'chargeback' | 'dispute'
      readonly body?: Body
      readonly share?: Share
      /** Which payment of a checkout that was paid twice, counted from 0. */
      readonly charge?: number
    }
  /** Ends a refund. */
  | ({ readonly end: 'succeed' | 'fail' } & Of)
  /** Shows another status of a refund. */
  | ({ readonly tell: string } & Of)
  /** Moves a chargeback or a dispute. A dispute may be lost for a part of what was disputed. */
  | ({ readonly move: 'SUCCESS' | 'FAILED' | 'VOIDED' | 'REVERSED' | 'WON' | 'LOST'; readonly share?: Share } & Of)
  /** Raises the amount of a chargeback. */
  | ({ readonly grow: number } & Of)
  /** Shows other statuses of the payment. */
  | { readonly show: Shown }
  /** Has the bank end the transfer of a cash-out, or return it later. A refusal may have a status of its own. */
  | { readonly bank: 'pays' | 'refuses' | 'reverses'; readonly as?: string }
  /** Shows other statuses of the payout of a cash-out. */
  | { readonly payout: Shown }
  /** Has an operator refund a payment in review. */
  | { readonly operator: 'refunds' }

/** Required outcome of an item once every event of its fate has taken place. The audit judges it. */
export type Outcome = {
  /** Money at the provider that is left to us. `undone` is all of it, after part of it was gone for a while. */
  readonly money: 'kept' | 'part' | 'gone' | 'undone'
  /** Statuses in which the item may end, if not those of its money (`endsOf`). */
  readonly ends?: readonly string[]
  /** True if the money had come back before, so that a recovery in the meantime waits for an operator. */
  readonly cameBack?: true
  /** True if our refund must be requested only once, because the provider shows it. */
  readonly askedOnce?: true
}

export type Fate = {
  readonly name: string
  /** Share among the fates that suit a plan, relative to the others. */
  readonly weight: number
  readonly suits: (plan: Plan) => boolean
  readonly events: readonly Event[]
  readonly requires: Outcome
}

const [short, long] = [4_000, 30_000]
const some = [0.01, 0.99] as const

const refund = (more: Omit<Extract<Event, { open: string }>, 'open'> = {}): Event => ({ open: 'refund', ...more })
const dispute = (more: Omit<Extract<Event, { open: string }>, 'open'> = {}): Event => ({ open: 'chargeback', ...more })
const announced: Event = { open: 'dispute' }
const pending = { status: 'PENDING' }

const isPaidAsAgreed = (plan: Plan) =>
  (plan.kind === 'topup' || plan.kind === 'settlement') &&
  plan.pays === 'in time' &&
  !plan.isUnknown &&
  plan.drawAgainMicro === 0n
const isPaidTwice = (plan: Plan) => (plan.kind === 'topup' || plan.kind === 'settlement') && plan.pays === 'twice'
const isPaidWrong = (plan: Plan) => plan.kind === 'topup' && plan.pays === 'too little'
const isCashoutTo = (accountNumber: string) => (plan: Plan) =>
  plan.kind === 'cashout' &&
  plan.requests === 1 &&
  plan.cancels === 'never' &&
  plan.meanwhile === 'nothing' &&
  plan.accountNumber === accountNumber
const isLate = isCashoutTo(pendingAccount)

const onPayments = (name: string, weight: number, events: readonly Event[], requires: Outcome): Fate => ({
  name,
  weight,
  suits: isPaidAsAgreed,
  // The payment is some time old.
  events: [{ rest: short }, ...events],
  requires,
})

/** Nothing happens outside. */
export const plain: Fate = {
  name: 'nothing',
  weight: 14,
  // A transfer to a bank that is late has no end of its own.
  suits: (plan) => !isLate(plan),
  events: [],
  requires: { money: 'kept' },
}

const [kept, part, gone, undone] = (['kept', 'part', 'gone', 'undone'] as const).map((money) => ({ money })) as [
  Outcome,
  Outcome,
  Outcome,
  Outcome,
]
const lostAgain: Outcome = { money: 'gone', cameBack: true }
/** The provider may show a void first in the list, first at the payment's own endpoint, or at once in both. */
const voids = [
  { status: 'CANCELED', listed: 'VOIDED' },
  { status: 'CANCELED', listed: 'REVERSED' },
  { listed: 'VOIDED' },
  { listed: 'REVERSED' },
  { status: 'CANCELED' },
] as const

export const fates: readonly Fate[] = [
  plain,
  onPayments('refunded', 1, [refund()], gone),
  onPayments('refunded in a row of the list without its id', 0.3, [refund({ body: { nameless: true } })], gone),
  onPayments('refunded by the newer API', 0.3, [refund({ body: { version: 3 } })], gone),
  onPayments('refunded in part', 0.5, [refund({ share: some })], part),
  onPayments('refunded in two parts', 0.5, [refund({ share: some }), { rest: short }, refund()], gone),
  onPayments('refunded late', 0.5, [refund({ body: pending }), { rest: long }, { end: 'succeed' }], gone),
  onPayments('refund refused late', 0.5, [refund({ body: pending }), { rest: long }, { end: 'fail' }], kept),
  onPayments(
    'refund in doubt and then made',
    0.3,
    [refund({ body: pending, share: some }), { tell: 'REQUIRES_ACTION' }, { rest: long }, { end: 'succeed' }],
    part,
  ),
  onPayments(
    'refund in doubt and then refused',
    0.3,
    [refund({ body: pending }), { tell: 'REQUIRES_ACTION' }, { rest: long }, { end: 'fail' }],
    kept,
  ),
  onPayments('refund bounced', 0.6, [refund(), { rest: long }, { end: 'fail' }], undone),
  onPayments('refund of a part bounced', 0.4, [refund({ share: some }), { rest: long }, { end: 'fail' }], undone),
  onPayments('charged back', 0.6, [dispute()], gone),
  onPayments('charged back in part', 0.4, [dispute({ share: some })], part),
  onPayments('dispute grew', 0.6, [dispute({ share: 0.3 }), { rest: long }, { grow: 0.7 }], part),
  onPayments(
    'dispute grew to the whole',
    0.4,
    [dispute({ share: 0.3 }), { rest: long }, { grow: 0.7 }, { rest: short }, { grow: 1 }],
    gone,
  ),
  // Payer's bank and provider each convert the amount, at different rates.
  onPayments('charged back for more than was paid', 0.3, [dispute({ share: 1.1 })], gone),
  onPayments('dispute opened and lost', 0.5, [dispute({ body: pending }), { rest: long }, { move: 'SUCCESS' }], gone),
  onPayments(
    'dispute open for minutes and then lost',
    0.3,
    [dispute({ body: pending }), { rest: 120_000 }, { move: 'SUCCESS' }],
    gone,
  ),
  onPayments('dispute opened and dropped', 0.3, [dispute({ body: pending }), { rest: long }, { move: 'FAILED' }], kept),
  onPayments('dispute opened and voided', 0.2, [dispute({ body: pending }), { rest: long }, { move: 'VOIDED' }], kept),
  onPayments('dispute won', 0.5, [dispute(), { rest: long }, { move: 'REVERSED' }], undone),
  onPayments('dispute in part won', 0.3, [dispute({ share: some }), { rest: long }, { move: 'REVERSED' }], undone),
  onPayments(
    'dispute won and lost again',
    0.4,
    [dispute(), { rest: long }, { move: 'REVERSED' }, { rest: long }, { move: 'SUCCESS' }],
    lostAgain,
  ),
  onPayments('charged back in a row that names the payment', 0.2, [dispute({ body: { names: 'payment' } })], gone),
  onPayments('charged back in a row that names the request', 0.2, [dispute({ body: { names: 'request' } })], gone),
  // The chargeback of a lost dispute is the same money.
  onPayments('dispute announced and lost', 0.6, [announced, { rest: long }, { move: 'LOST' }], gone),
  onPayments(
    'dispute of a part announced and lost',
    0.4,
    [{ ...announced, share: some }, { rest: long }, { move: 'LOST' }],
    part,
  ),
  onPayments(
    'dispute announced and lost for a part',
    0.4,
    [announced, { rest: long }, { move: 'LOST', share: some }],
    part,
  ),
  onPayments(
    'dispute announced and lost for a part and then for the whole',
    0.2,
    [announced, { rest: long }, { move: 'LOST', share: some }, { rest: long }, { move: 'LOST' }],
    gone,
  ),
  onPayments(
    'dispute announced and lost and won and lost again',
    0.2,
    [announced, { rest: long }, { move: 'LOST' }, { rest: long }, { move: 'WON' }, { rest: long }, { move: 'LOST' }],
    lostAgain,
  ),
  onPayments('dispute announced and won', 0.5, [announced, { rest: long }, { move: 'WON' }], kept),
  onPayments(
    'dispute announced and won and then lost',
    0.3,
    [announced, { rest: long }, { move: 'WON' }, { rest: long }, { move: 'LOST' }],
    gone,
  ),
  onPayments(
    'refunded after a lost dispute was won',
    0.3,
    [announced, { rest: long }, { move: 'LOST' }, { rest: long }, { move: 'WON' }, { rest: long }, refund()],
    lostAgain,
  ),
  onPayments('disputed in dollars', 0.4, [dispute({ body: { currency: 'USD' } })], gone),
  onPayments(
    'dispute in Singapore dollars opened and lost',
    0.3,
    [dispute({ body: { currency: 'SGD', ...pending } }), { rest: long }, { move: 'SUCCESS' }],
    gone,
  ),
  onPayments(
    'dispute in dollars won',
    0.3,
    [dispute({ body: { currency: 'USD' } }), { rest: long }, { move: 'REVERSED' }],
    undone,
  ),
  // Two objects of one payment, which end in any order. The second dispute of a payment is a case of its own.
  onPayments(
    'refund and dispute open at once and both dropped',
    0.4,
    [
      refund({ body: pending }),
      { rest: short },
      announced,
      { rest: long },
      { end: 'fail', of: 0 },
      { rest: long },
      { move: 'WON' },
    ],
    kept,
  ),
  onPayments(
    'refund and dispute open at once and the dispute dropped first',
    0.4,
    [
      refund({ body: pending }),
      { rest: short },
      announced,
      { rest: long },
      { move: 'WON' },
      { rest: long },
      { end: 'succeed', of: 0 },
    ],
    gone,
  ),
  onPayments(
    'refund and dispute open at once and both made',
    0.4,
    [
      refund({ body: pending }),
      { rest: short },
      announced,
      { rest: long },
      { move: 'LOST' },
      { rest: long },
      { end: 'succeed', of: 0 },
    ],
    gone,
  ),
  onPayments(
    'dispute lost and the refund of before bounced',
    0.4,
    [refund(), { rest: long }, announced, { rest: long }, { move: 'LOST' }, { rest: long }, { end: 'fail', of: 0 }],
    lostAgain,
  ),
  onPayments(
    'disputed twice and the first one won',
    0.4,
    [announced, { rest: long }, { move: 'WON' }, { rest: long }, announced, { rest: long }, { move: 'LOST' }],
    gone,
  ),
  onPayments(
    'lost dispute won and another one lost',
    0.4,
    [
      announced,
      { rest: long },
      { move: 'LOST' },
      { rest: long },
      { move: 'WON' },
      { rest: long },
      announced,
      { rest: long },
      { move: 'LOST' },
    ],
    lostAgain,
  ),
  onPayments(
    'two disputes of parts of which the first is lost',
    0.4,
    [
      { ...announced, share: 0.4 },
      { rest: short },
      { ...announced, share: 0.5 },
      { rest: long },
      { move: 'WON' },
      { rest: long },
      { move: 'LOST', of: 0 },
    ],
    part,
  ),
  onPayments(
    'two refunds of parts of which the first bounces',
    0.4,
    [refund({ share: 0.4 }), { rest: short }, refund({ share: 0.5 }), { rest: long }, { end: 'fail', of: 0 }],
    { money: 'part', cameBack: true },
  ),
  onPayments(
    'inquiry ended by a refund',
    0.4,
    [announced, { rest: long }, refund(), { rest: short }, { move: 'WON', of: 0 }],
    gone,
  ),
  onPayments('refunded and disputed', 0.5, [refund({ share: some }), { rest: long }, dispute()], gone),
  onPayments('disputed and refunded', 0.5, [dispute({ share: some }), { rest: long }, refund()], gone),
  ...voids.map((first) =>
    onPayments(
      `voided with ${Object.values(first).join(' and ')} first`,
      0.12,
      [{ show: first }, { rest: long }, { show: { status: 'CANCELED', listed: 'VOIDED' } }],
      // A payment that is voided before the services have seen it was never paid.
      { money: 'gone', ends: ['revoked', 'refunded', 'review', 'expired'] },
    ),
  ),
  ...voids.map((first) =>
    onPayments(
      `void taken back with ${Object.values(first).join(' and ')} first`,
      0.1,
      [{ show: first }, { rest: long }, { show: {} }],
      undone,
    ),
  ),
  ...['IN_REVIEW', 'FAILED'].map((status) =>
    onPayments(`shown as ${status} for a while`, 0.5, [{ show: { status } }, { rest: long }, { show: {} }], kept),
  ),
  // The other payment is still there, so the checkout stays paid.
  ...['first', 'second'].map(
    (word, charge): Fate => ({
      name: `${word} of two payments refunded`,
      weight: 10,
      suits: isPaidTwice,
      events: [{ rest: short }, refund({ charge })],
      requires: { money: 'part', ends: ['credited', 'repaid', 'review'] },
    }),
  ),
  {
    name: 'refunded by an operator',
    weight: 14,
    suits: isPaidWrong,
    events: [{ until: 'review' }, { operator: 'refunds' }],
    requires: { money: 'gone', ends: ['refunded'] },
  },
  {
    name: 'reversed by the bank later',
    weight: 3,
    suits: isCashoutTo(bank.accountNumber),
    events: [{ until: 'paid' }, { rest: short }, { bank: 'reverses' }],
    requires: { money: 'gone', ends: ['returned'] },
  },
  {
    name: 'paid late by the bank',
    weight: 1,
    suits: isLate,
    events: [{ rest: long }, { bank: 'pays' }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'refused late by the bank',
    weight: 1,
    suits: isLate,
    events: [{ rest: long }, { bank: 'refuses' }],
    requires: { money: 'gone', ends: ['returned'] },
  },
  ...(['COMPLIANCE_REJECTED', 'CANCELLED'] as const).map(
    (as): Fate => ({
      name: `reviewed for compliance and then ${as} by the provider`,
      weight: 0.5,
      suits: isLate,
      events: [{ payout: { status: 'PENDING_COMPLIANCE_ASSESSMENT' } }, { rest: long }, { bank: 'refuses', as }],
      requires: { money: 'gone', ends: ['returned'] },
    }),
  ),
  {
    name: 'reviewed for compliance and then paid by the bank',
    weight: 0.5,
    suits: isLate,
    events: [{ payout: { status: 'PENDING_COMPLIANCE_ASSESSMENT' } }, { rest: long }, { bank: 'pays' }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'shown in an unknown status and then paid by the bank',
    weight: 0.5,
    suits: isLate,
    events: [{ payout: { status: 'ON_HOLD', listed: 'ON_HOLD' } }, { rest: long }, { bank: 'pays' }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'shown in an unknown status after it was paid',
    weight: 0.5,
    suits: isCashoutTo(bank.accountNumber),
    events: [{ until: 'paid' }, { payout: { status: 'ON_HOLD' } }, { rest: long }, { payout: {} }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'shown as pending again after it was paid',
    weight: 0.5,
    suits: isCashoutTo(bank.accountNumber),
    events: [{ until: 'paid' }, { payout: { status: 'ACCEPTED', listed: 'PENDING' } }, { rest: long }, { payout: {} }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'shown as failed for a moment after it was paid',
    weight: 0.5,
    suits: isCashoutTo(bank.accountNumber),
    events: [{ until: 'paid' }, { payout: { status: 'FAILED' } }, { rest: long }, { payout: {} }],
    requires: { money: 'kept', ends: ['paid'] },
  },
  {
    name: 'failed after it was paid',
    weight: 1,
    suits: isCashoutTo(bank.accountNumber),
    events: [{ until: 'paid' }, { rest: short }, { bank: 'refuses' }],
    requires: { money: 'gone', ends: ['returned'] },
  },
]

/** A fate that waits for the end of the credit's hold: its loss cannot be revoked, and freezes the wallet. */
export const afterCredit = (fate: Fate): Fate => ({
  ...fate,
  name: `${fate.name} after the credit`,
  events: [{ until: 'credited' }, ...fate.events],
})

export const fateOf = (name: string): Fate => {
  const found = fates.find((one) => one.name === name)
  if (!found) throw new Error(`no fate is named "${name}"`)
  return found
}

const paidEnds = { topup: 'credited', settlement: 'repaid' } as const

/** Returns true if no cash-out to the account is paid in the end: provider or bank refuses it by itself. */
export const isUnpayable = (accountNumber: string): boolean =>
  [refusedAccount, reversedAccount, blockedAccount].includes(accountNumber)

/**
 * Returns the statuses in which an item may end if it was played to its end. A payment whose money went away and came back
 * waits for an operator if it had been recovered meanwhile.
 */
export function endsOf(plan: Plan, { requires }: Pick<Fate, 'requires'>): readonly string[] {
  if (requires.ends) return requires.ends
  switch (plan.kind) {
    case 'topup':
    case 'settlement': {
      const whole = paidEnds[plan.kind]
      if (plan.pays === 'never' || plan.pays === 'what was replaced')
        // The user's next settlement may replace it first.
        return ['expired', 'awaiting_payment', ...(plan.kind === 'settlement' ? ['replaced'] : [])]
      if (plan.isUnknown) return ['review']
      // Money of a cancelled checkout is held to the limits anew.
      if (plan.pays.endsWith('cancelling')) return [whole, 'review']
      if (plan.pays.endsWith('too little')) return [plan.kind === 'topup' ? 'review' : whole]
      if (plan.pays === 'too much' || plan.pays === 'twice') return ['review']
      if (requires.money === 'gone') return ['revoked', 'refunded', 'review']
      return requires.money === 'kept' ? [whole] : [whole, 'review']
    }
    case 'cashout': {
      // The provider may refuse any payout. That its AUSD is returned exactly then is a rule of its own.
      const ends = isUnpayable(plan.accountNumber) ? ['returned'] : ['paid', 'returned']
      return plan.cancels === 'never' && plan.requests === 1 ? ends : [...ends, 'failed']
    }
    case 'send':
      return ['sent']
    case 'verification':
    case 'autorepay':
      return [] // No request names an item of the activity.
  }
}
