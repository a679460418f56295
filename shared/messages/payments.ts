import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest, ChannelKindName, Method } from '#shared/messages/activity'
import { DeedOutcome, deedFields, pauseQuestion } from '#shared/messages/deeds'
import { Address, Amount, AusdAmount, FiatAmount, Pair, Uuid } from '#shared/messages/fields'
import { event, question } from '#shared/messages/topic'

const PaymentResult = Type.Object(
  {
    paymentId: Type.String({ description: 'The id of the item in the activity.' }),
    checkoutUrl: Type.String({ description: "The provider's hosted checkout: open it." }),
    fiat: FiatAmount,
    ausd: AusdAmount,
  },
  { title: 'PaymentResult', description: 'A checkout: what it charges, and what it is worth.' },
)

/** Opens a checkout for a top-up. */
export const TopupCreate = question('payments.topup.create', 'payments', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    amount: Amount,
    method: Method,
    quoteId: Uuid,
  }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

/** Opens a checkout for the whole debt. */
export const SettlementCreate = question('payments.settlement.create', 'payments', ['gateway'], {
  request: Type.Object({ wallet: Address, quoteId: Uuid }),
  answer: PaymentResult,
  repeat: 'once by its key',
})

/** What may be paid in a currency, in its smallest unit. */
export const CurrencyTerms = Type.Object(
  {
    currency: Type.Enum(['IDR', 'MYR'], { title: 'Currency', description: 'ISO 4217.' }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2, whose channels charge it.' }),
    pair: Pair,
    topup: Type.Object(
      { min: FiatAmount, max: FiatAmount, cardMax: FiatAmount },
      { description: 'The least and the most of one top-up, and the most with `card`.' },
    ),
    settlement: Type.Object(
      { min: FiatAmount, max: FiatAmount },
      { description: 'The least and the most that one settlement can charge.' },
    ),
  },
  { title: 'CurrencyTerms', description: 'What may be paid in a currency.' },
)
/** What a wallet's top-ups may come to; a day is one of UTC. */
export const TopupTerms = Type.Object(
  {
    openMax: Type.Integer({ description: 'Checkouts that may be open at once.' }),
    openAusdMax: AusdAmount,
    dayAusdMax: AusdAmount,
  },
  {
    title: 'TopupTerms',
    description:
      'What the top-ups of one wallet may come to: open ones together, and all of a day (UTC).',
  },
)
/** What people may pay in, how, and for how long a checkout is open. */
export const PaymentsTerms = question('payments.terms', 'payments', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    currencies: Type.Array(CurrencyTerms, {
      description: 'What may be paid in, and how much of it in one payment.',
    }),
    methods: Type.Array(Method, { description: 'What a top-up may be paid by: its `method`.' }),
    checkoutSeconds: Type.Integer(),
    heldChannels: Type.Array(ChannelKindName),
    topups: TopupTerms,
  }),
  repeat: 'changes nothing',
})

export const PaymentsActivity = question('payments.activity', 'payments', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

/**
 * Decides about a payment that waits for a person. `credit`: what was paid counts, if nothing of it is
 * on the chain. `refund`: it goes back at the provider. `accept`: it stays as it is.
 */
export const ReviewResolve = question('payments.review.resolve', 'payments', ['ops'], {
  request: Type.Object({
    ...deedFields,
    paymentId: Type.String(),
    resolution: Type.Enum(['credit', 'refund', 'accept']),
  }),
  answer: DeedOutcome,
  repeat: 'once by its key',
})

/** Gives up what a wallet still has to make good, and ends its freeze. */
export const WalletClear = question('payments.wallet.clear', 'payments', ['ops'], {
  request: Type.Object({ ...deedFields, wallet: Address }),
  answer: DeedOutcome,
  repeat: 'once by its key',
})

/** New top-ups are refused while they are paused; settlements never are: a debt must be payable. */
export const TopupsPause = pauseQuestion('payments.topups.pause', 'payments')

const Fact = Type.Object({
  paymentId: Type.String(),
  kind: Type.Enum(['topup', 'settlement']),
  wallet: Address,
  fiat: Amount,
  currency: Type.Enum(['IDR', 'MYR']),
  ausd: Amount,
})
/** The provider confirmed that the money arrived. Says nothing about the chain. */
export const PaymentPaid = event('payments.paid', 'payments', Fact)
/** The money is collateral, or the debt is repaid, finally. */
export const PaymentSettled = event('payments.settled', 'payments', Fact)
/** A person has to look: amount, currency or refund do not fit. */
export const PaymentInReview = event('payments.review', 'payments', Fact)
