import { Type } from 'typebox'
import { ActivityAnswer, ActivityRequest, ItemAnswer, ItemRequest } from '#shared/messages/activity'
import {
  Address,
  Amount,
  AusdAmount,
  Authorization,
  Bank,
  DayLimit,
  Fee,
  FiatAmount,
  InvitedOnly,
  Pair,
  TermsMissing,
  Timestamp,
  Uuid,
} from '#shared/messages/fields'
import { CommandOutcome, operatorCommandFields, pauseQuestion } from '#shared/messages/operator-commands'
import { event, question } from '#shared/messages/topic'

/** Stores a cash-out; taking and paying follow. */
export const CashoutCreate = question('payouts.cashout.create', 'payouts', ['gateway'], {
  request: Type.Object({
    wallet: Address,
    quoteId: Uuid,
    authorization: Authorization,
    bank: Bank,
    termsMissing: TermsMissing,
  }),
  answer: Type.Object(
    { payoutId: Uuid, ausd: AusdAmount, fiat: FiatAmount, fee: Type.Optional(Fee) },
    {
      title: 'CashoutResult',
      description: 'An accepted cash-out: AUSD to take and rupiah to pay out.',
    },
  ),
  repeat: 'once by its key',
})

/**
 * Checks the holder name of an account, which is allowed a few times a day. Refused: account_checks_too_many,
 * not_verified.
 */
export const AccountCheck = question('payouts.account.check', 'payouts', ['gateway'], {
  request: Type.Object({ wallet: Address, bank: Bank }),
  answer: Type.Object({
    verdict: Type.Enum(['match', 'no_match', 'cannot_tell'], {
      description: 'Whether the account has this holder; `cannot_tell` without a clear answer.',
    }),
  }),
  repeat: 'once by its key',
})

export const BankTerms = Type.Object(
  {
    code: Type.String({ description: 'Value for `channelCode` of a cash-out.' }),
    name: Type.String({ description: 'Name of the bank at the provider.' }),
    min: FiatAmount,
    max: FiatAmount,
    increment: FiatAmount,
    accountNumber: Type.Object(
      {
        digitsMin: Type.Integer({ description: 'Minimum number of digits.' }),
        digitsMax: Type.Integer({ description: 'Maximum number of digits.' }),
        pattern: Type.String({ description: 'The same rule as a regular expression.' }),
      },
      { title: 'AccountNumberRule', description: 'Format of the account numbers.' },
    ),
  },
  {
    title: 'BankTerms',
    description: 'A supported bank: minimum and maximum of one transfer in rupiah, and the increment of amounts.',
  },
)
const MarketClosed = Type.Object(
  { dayAusdMax: AusdAmount, dayAusdMaxOfAll: AusdAmount },
  {
    title: 'MarketClosedTerms',
    description:
      'Limits of cash-outs per day in Jakarta while the market of the rupiah is closed, of a wallet and of all wallets ' +
      'together; 0 means none.',
  },
)

/** Reads limits and banks. Refused: provider_unavailable. */
export const PayoutsTerms = question('payouts.terms', 'payouts', ['gateway', 'ops', 'operations'], {
  request: Type.Object({}),
  answer: Type.Object({
    pair: Pair,
    currency: Type.Enum(['IDR'], { description: 'Currency of the payout, in whole rupiah.' }),
    min: FiatAmount,
    dayAusdMax: AusdAmount,
    dayAusdMaxOfAll: Type.Optional(AusdAmount),
    invitedOnly: InvitedOnly,
    marketClosed: Type.Optional(MarketClosed),
    validBeforeSecondsMin: Type.Integer({
      description: 'Minimum time until `validBefore`, in seconds.',
    }),
    checksPerDayMax: Type.Integer({
      description: 'Maximum number of account checks of a wallet per day in Jakarta.',
    }),
    banks: Type.Array(BankTerms, { description: 'Supported banks.' }),
  }),
  repeat: 'changes nothing',
})

export const PayoutsLimit = question('payouts.limit', 'payouts', ['gateway'], {
  request: Type.Object({ wallet: Address }),
  answer: DayLimit,
  repeat: 'changes nothing',
})

export const PayoutsActivity = question('payouts.activity', 'payouts', ['gateway'], {
  request: ActivityRequest,
  answer: ActivityAnswer,
  repeat: 'changes nothing',
})

export const PayoutsItem = question('payouts.item', 'payouts', ['gateway'], {
  request: ItemRequest,
  answer: ItemAnswer,
  repeat: 'changes nothing',
})

/**
 * Reads the AUSD (10⁻⁶) of users in the treasury. It is the sum of every cash-out from the order to take it until the
 * bank is paid or the AUSD returned, and of returns since `since`.
 */
export const PayoutsOwed = question('payouts.owed', 'payouts', ['payments'], {
  request: Type.Object({ since: Timestamp }),
  answer: Type.Object({ ausd: Amount }),
  repeat: 'changes nothing',
})

export const PayoutsPause = pauseQuestion('payouts.pause', 'payouts')

/**
 * Holds a cash-out before its payout is ordered, or releases it. Refused once the payout is ordered, and if `revision` has
 * changed since the operator looked: a late or repeated command never undoes a newer one.
 */
export const CashoutHold = question('payouts.cashout.hold', 'payouts', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    payoutId: Uuid,
    to: Type.Enum(['held', 'released']),
    revision: Type.Integer({ minimum: 0 }),
  }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/** Returns the AUSD of a cash-out that is taken and whose payout is not ordered. Refused in every other state. */
export const CashoutCancel = question('payouts.cashout.cancel', 'payouts', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, payoutId: Uuid }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

/**
 * Ends a payout that was ordered and that the provider did not make: its AUSD is returned. Refused while an order may still be on
 * its way, and if a look-up finds the payout. If the payout was made after all, an alert names it.
 */
export const CashoutGiveUp = question('payouts.cashout.give-up', 'payouts', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, payoutId: Uuid }),
  answer: CommandOutcome,
  gives: 'money',
  repeat: 'once by its key',
})

/** Bank account, named by bank and number, by one of its cash-outs, or by its name in the list of refused accounts. */
const NamedAccount = Type.Union([
  Type.Object({ payoutId: Uuid }),
  Type.Object({ account: Type.String({ pattern: '^acc_[A-Za-z0-9_-]{43}$' }) }),
  Type.Object({ channelCode: Bank.properties.channelCode, accountNumber: Bank.properties.accountNumber }),
])

/**
 * Finds a bank account, and whether operators refuse it. Its name is a keyed hash, so that no number is recorded.
 * `isRefused` means that the refusal recognises it under every present key; `isAllowed`, that no refusal stands.
 */
export const AccountFind = question('payouts.account.find', 'payouts', ['ops'], {
  request: Type.Object({ of: NamedAccount }),
  answer: Type.Union([
    Type.Object({
      account: Type.String(),
      revision: Type.Integer({ minimum: 0 }),
      isRefused: Type.Boolean(),
      isAllowed: Type.Boolean(),
    }),
    Type.Object({ unknown: Type.String() }),
  ]),
  repeat: 'changes nothing',
})

export const accountDigits = /^[0-9]{3,20}$/
/** Most cash-outs of one question, so that it fits into a message and its answer comes in time. */
export const cashoutsAskedMax = 1_000

/**
 * Tells which of these cash-outs go to a bank account whose number ends so. Details that are erased, or that only the law
 * keeps, match nothing. Those that cannot be decrypted are counted as `unreadable`, which is absent if there are none.
 */
export const AccountEnding = question('payouts.account.ending', 'payouts', ['ops', 'operations'], {
  request: Type.Object({
    digits: Type.String({ pattern: accountDigits.source }),
    payoutIds: Type.Array(Uuid, { maxItems: cashoutsAskedMax }),
  }),
  answer: Type.Object({
    payoutIds: Type.Array(Uuid),
    unreadable: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  repeat: 'changes nothing',
})

/**
 * Refuses a bank account, or allows it again. A cash-out to a refused account is refused when it is requested, and held if
 * its payout is not ordered. Refused if `revision` has changed since the operator looked.
 */
export const AccountRefuse = question('payouts.account.refuse', 'payouts', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    of: NamedAccount,
    to: Type.Enum(['refused', 'allowed']),
    revision: Type.Integer({ minimum: 0 }),
  }),
  answer: CommandOutcome,
  gives: 'nothing',
  repeat: 'once by its key',
})

const Fact = Type.Object({ payoutId: Uuid, wallet: Address, fiat: Amount, ausd: Amount })
/** Announces that the AUSD is in the treasury, final on the chain. */
export const PayoutTaken = event('payouts.taken', 'payouts', Fact)
/** Announces that the provider confirmed the bank transfer. A late reversal may follow. */
export const PayoutPaid = event('payouts.paid', 'payouts', Fact)
/** Announces that the AUSD is back with the user, final on the chain. */
export const PayoutReturned = event('payouts.returned', 'payouts', Fact)
