import { Type } from 'typebox'
import {
  ActivityAnswer,
  ActivityRequest,
  ChannelKindName,
  ItemAnswer,
  ItemRequest,
  Method,
} from '#shared/messages/activity'
import {
  Address,
  Amount,
  AusdAmount,
  DayLimit,
  FiatAmount,
  InvitedOnly,
  Pair,
  TermsMissing,
  Uuid,
} from '#shared/messages/fields'
import { CommandOutcome, operatorCommandFields, pauseQuestion } from '#shared/messages/operator-commands'
import { event, question } from '#shared/messages/topic'

const PaymentResult = Type.Object(
  {
    paymentId: Type.String({ description: 'Id of the item in the activity list.' }),
    checkoutUrl: Type.String({ description: "URL of the provider's hosted checkout; open it." }),
    fiat: FiatAmount,
    ausd: AusdAmount,
  },
  {
    title: 'PaymentResult',
    description: 'An open checkout: amount charged and its value in AUSD, before the fee of a top-up.',
  },
)

export const TopupCreate = question('payments.topup.create', 'payments', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    amount: Amount,
    method: Method,
    quoteId: Uuid,
    termsMissing: TermsMissing,
  }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

export const SettlementCreate = question('payments.settlement.create', 'payments', ['gateway'], {
  request: Type.Object({ wallet: Address, quoteId: Uuid }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

/** Cancels a checkout unless it is paid, and returns the item. */
export const CheckoutCancel = question('payments.checkout.cancel', 'payments', ['gateway'], {
  request: Type.Object({
    ...ItemRequest.properties,
    kind: Type.Enum(['topup', 'settlement']),
  }),
  answer: ItemAnswer,
  repeat: 'once by its key',
})

export const CurrencyTerms = Type.Object(
  {
    currency: Type.Enum(['IDR', 'MYR'], { title: 'Currency', description: 'ISO 4217.' }),
    country: Type.String({
      description: 'ISO 3166-1 alpha-2 code of the country whose channels charge this currency.',
    }),
    pair: Pair,
    topup: Type.Object(
      { min: FiatAmount, max: FiatAmount, cardMax: FiatAmount },
      { description: 'Minimum and maximum of one top-up, and the maximum with `card`.' },
    ),
    settlement: Type.Object(
      { min: FiatAmount, max: FiatAmount },
      { description: 'Minimum and maximum of one settlement.' },
    ),
  },
  { title: 'CurrencyTerms', description: 'Payment limits of a currency.' },
)
export const TopupTerms = Type.Object(
  {
    openMax: Type.Integer({ description: 'Maximum number of open checkouts.' }),
    openAusdMax: AusdAmount,
    dayAusdMax: AusdAmount,
    dayCountMax: Type.Optional(Type.Integer({ description: 'Maximum number of paid top-ups per day.' })),
    dayAusdMaxOfAll: Type.Optional(AusdAmount),
    invitedOnly: InvitedOnly,
  },
  {
    title: 'TopupTerms',
    description:
      'Top-up limits of a wallet: for its open top-ups in total, and per day in the country of the payment. ' +
      '`dayAusdMaxOfAll` limits all wallets together, per day in Jakarta.',
  },
)
export const PaymentsTerms = question('payments.terms', 'payments', ['gateway', 'ops'], {
  request: Type.Object({}),
  answer: Type.Object({
    currencies: Type.Array(CurrencyTerms, {
      description: 'Currencies, with the limits of one payment.',
    }),
    methods: Type.Array(Method, { description: 'Allowed values of `method` in a top-up.' }),
    checkoutSeconds: Type.Integer(),
    cancellationsPerDayMax: Type.Integer({
      description: 'Maximum number of checkouts that a wallet may cancel per day in the country of the payment.',
    }),
    heldChannels: Type.Array(ChannelKindName),
    topups: TopupTerms,
  }),
  repeat: 'changes nothing',
})

export const PaymentsLimit = question('payments.limit', 'payments', ['gateway'], {
  request: Type.Object({ wallet: Address }),
  answer: DayLimit,
  repeat: 'changes nothing',
})

/** Returns why a wallet is frozen: it owes for a reversed payment, or a refund or dispute is open. */
export const PaymentsFreeze = question('payments.freeze', 'payments', ['gateway'], {
  request: Type.Object({ wallet: Address }),
  answer: Type.Object({ isOwing: Type.Boolean() }),
  repeat: 'changes nothing',
})

export const PaymentsActivity = question('payments.activity', 'payments', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

export const PaymentsItem = question('payments.item', 'payments', ['gateway'], {
  request: ItemRequest,
  answer: ItemAnswer,
  repeat: 'changes nothing',
})

/**
 * Resolves a payment in review. `credit`: credit the amount paid, if none of it is on the chain. `accept`: leave it as
 * it is.
 */
export const ReviewResolve = question('payments.review.resolve', 'payments', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    paymentId: Type.String(),
    resolution: Type.Enum(['credit', 'refund', 'accept']),
  }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/**
 * Refunds a credited top-up, after its AUSD came back to the treasury in `transfers` (`<transaction>:<log>`), `back` in all
 * (10⁻⁶ AUSD). Refused if less came back than the top-up gave.
 */
export const TopupRefund = question('payments.topup.refund', 'payments', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    paymentId: Type.String(),
    transfers: Type.Array(Type.String({ pattern: '^0x[0-9a-f]{64}:[0-9]{1,9}$' }), { minItems: 1, maxItems: 10 }),
    back: Amount,
  }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/**
 * Ends a refund that was requested, that no look-up finds and that the provider refuses to make again. Its payment needs a
 * decision again. If the refund was made after all, it counts like one that we did not order. Refused while a look-up may
 * still find it.
 */
export const RefundGiveUp = question('payments.refund.give-up', 'payments', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, paymentId: Type.String(), reference: Type.String() }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/**
 * Writes off outstanding losses and unfreezes. Refused if `revision` or `missing` (10⁻⁶ AUSD) has changed since
 * the operator looked: a late or repeated command never lifts a newer freeze or writes off a newer loss.
 */
export const WalletClear = question('payments.wallet.clear', 'payments', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Address, revision: Amount, missing: Amount }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/**
 * Undoes the latest clearing of a wallet: its losses are owed again, and it is frozen. Refused if the revision of the clearing's
 * order is not `clearing`, because the wallet was cleared again since the operator looked.
 */
export const WalletReclaim = question('payments.wallet.reclaim', 'payments', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Address, clearing: Amount }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/**
 * Freezes a wallet by hand, or ends that. Refused if `revision` of its freeze has changed since the operator looked; 0 if it
 * was never frozen.
 */
export const WalletFreeze = question('payments.wallet.freeze', 'payments', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    wallet: Address,
    to: Type.Enum(['frozen', 'free']),
    revision: Amount,
  }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/**
 * Records that `micro` (10⁻⁶ AUSD) was returned outside of this service, because the loss that it had repaid was
 * undone. Refused unless the wallet repaid it needlessly.
 */
export const LossGivenBack = question('payments.loss.given-back', 'payments', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, paymentId: Type.String(), micro: Amount }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/**
 * Records that the provider took back `minor` (smallest unit) of a payment by a transaction that names no refund or
 * dispute, such as an adjustment; 0 takes such a record back. It counts like a chargeback. One transaction may be recorded
 * for several payments. Refused for more than was paid.
 */
export const PaymentTakenBack = question('payments.payment.taken-back', 'payments', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    paymentId: Type.String(),
    transactionId: Type.String({ pattern: '^txn_[A-Za-z0-9_-]{1,200}$' }),
    minor: Amount,
  }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

const ProviderId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,80}$' })

/**
 * Records which of our charges a dispute is about, if the provider names none, or only a payment that has several. Refused if
 * the dispute is known to be about another charge.
 */
export const DisputeCharge = question('payments.dispute.charge', 'payments', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, disputeId: ProviderId, charge: ProviderId }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/** Name of the pause of the top-ups that are paid in one country. */
export const topupsIn = (country: string): string => `topups-${country.toLowerCase()}`

/** Pauses new top-ups, of one country or of all. Settlements continue, because a debt must always be payable. */
export const TopupsPause = pauseQuestion('payments.topups.pause', 'payments')

const Fact = Type.Object({
  paymentId: Type.String(),
  kind: Type.Enum(['topup', 'settlement']),
  wallet: Address,
  fiat: Amount,
  currency: Type.Enum(['IDR', 'MYR']),
  ausd: Amount,
})
/** Announces a payment that the provider has confirmed and that may not be on the chain yet. */
export const PaymentPaid = event('payments.paid', 'payments', Fact)
/** Announces a payment that is final on the chain: it is collateral, or the debt is repaid. */
export const PaymentSettled = event('payments.settled', 'payments', Fact)
/** Announces a payment that needs manual review, because amount, currency or refund do not match. */
export const PaymentInReview = event('payments.review', 'payments', Fact)
