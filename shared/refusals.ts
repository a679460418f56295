/**
 * Every answer that says no, in one table: the HTTP status and a sentence a person can act on.
 * A code is what travels between services; the gateway alone turns it into a response.
 */
export const refusals = {
  quote_unknown: { status: 400, message: 'this quote is not known, ask for a new one' },
  quote_expired: { status: 400, message: 'this quote has expired, ask for a new one' },
  quote_used: { status: 400, message: 'this quote was already used' },
  quote_not_idr: { status: 400, message: 'a cash-out needs a USD/IDR quote' },
  rate_unavailable: { status: 503, message: 'no fresh exchange rate right now, try again shortly' },

  not_verified: { status: 403, message: 'verify your identity first' },
  wallet_frozen: {
    status: 403,
    message:
      'a payment of this wallet was taken back: make it good with a top-up by bank transfer or QR',
  },

  amount_below_minimum_idr: { status: 400, message: 'amount is below the minimum of Rp 10,000' },
  amount_below_minimum_myr: { status: 400, message: 'amount is below the minimum of RM 5.00' },
  amount_above_maximum: { status: 400, message: 'amount is more than any payment channel accepts' },

  amount_above_day_limit: { status: 400, message: 'amount is more than the limit of a whole day' },
  topups_open_too_many: {
    status: 400,
    message: 'too many top-ups are open, pay one or wait until one has expired',
  },
  topups_open_too_much: {
    status: 400,
    message: 'the open top-ups come to too much together, pay one or wait until one has expired',
  },
  day_limit_reached: {
    status: 429,
    message: 'the limit of this day is reached, try a smaller amount or come back tomorrow (UTC)',
  },
  gas_budget_spent: {
    status: 429,
    message:
      'too many transfers of this wallet failed on the chain today, come back tomorrow (UTC)',
  },

  nothing_owed: { status: 400, message: 'nothing is owed' },
  settlement_on_its_way: { status: 400, message: 'a payment of this debt is on its way' },
  debt_too_small: {
    status: 400,
    message: 'the debt is too small for any payment channel, repay it from your wallet with repay',
  },

  wallet_not_from: { status: 400, message: 'authorization.from must be your wallet' },
  to_not_treasury: { status: 400, message: 'authorization.to must be the treasury' },
  to_zero: { status: 400, message: 'authorization.to must not be the zero address' },
  to_token: { status: 400, message: 'authorization.to must not be the token contract' },
  to_credit_line: { status: 400, message: 'authorization.to must not be the credit line' },
  to_treasury: { status: 400, message: 'authorization.to must not be the treasury' },
  value_zero: { status: 400, message: 'authorization.value must be more than 0' },
  valid_before_too_near: {
    status: 400,
    message: 'authorization.validBefore must be at least 5 minutes in the future',
  },
  valid_before_past: { status: 400, message: 'authorization.validBefore has passed' },
  valid_before_soon: {
    status: 400,
    message: 'authorization.validBefore must be at least 60 seconds in the future',
  },
  valid_after_not_reached: { status: 400, message: 'authorization.validAfter must be in the past' },
  payout_below_minimum: { status: 400, message: 'the payout is below the minimum of Rp 10,000' },
  payout_below_bank_minimum: {
    status: 400,
    message: 'the payout is less than this bank accepts',
  },
  payout_above_maximum: { status: 400, message: 'the payout is more than this bank accepts' },
  payout_not_in_increment: {
    status: 400,
    message: 'the payout is not a multiple of what this bank accepts',
  },
  bank_unknown: { status: 400, message: 'bank.channelCode is not a bank we can pay' },
  bank_account_format: {
    status: 400,
    message: 'bank.accountNumber does not have the length this bank uses',
  },
  signature_invalid: {
    status: 400,
    message: 'authorization.signature is not a signature of authorization.from over this transfer',
  },
  balance_too_low: { status: 400, message: 'authorization.value is more than the wallet holds' },
  nonce_used: { status: 400, message: 'authorization.nonce was already used or cancelled' },
  authorization_conflict: {
    status: 400,
    message: 'authorization.nonce was already sent with other content',
  },

  provider_unavailable: {
    status: 503,
    message: 'the payment provider does not answer right now, try again with the same quote',
  },
  treasury_short: {
    status: 503,
    message:
      'there is not enough AUSD to credit this top-up right now, try a smaller amount or try later',
  },
  treasury_empty: {
    status: 503,
    message:
      'this debt cannot be repaid for you right now, try later or repay it from your wallet with repay',
  },
  payouts_short: {
    status: 503,
    message: 'so much rupiah cannot be paid out right now, try a smaller amount or try later',
  },
  topups_paused: {
    status: 503,
    message: 'no top-up can be opened for the moment, try again later with a new quote',
  },
  cashouts_paused: {
    status: 503,
    message: 'no cash-out can be accepted for the moment, try again later with a new quote',
  },
  relaying_paused: {
    status: 503,
    message: 'no transfer can be put on the chain for the moment, try again later',
  },
  chain_unavailable: { status: 503, message: 'the chain cannot be read right now, try again' },
  indexer_lags: { status: 503, message: 'the record is behind the chain right now' },
} as const satisfies Record<string, { status: 400 | 403 | 429 | 503; message: string }>

/** The words of a no that is about the request, its sender or the service, and no rule of the table. */
export const generalRefusals = {
  bad_request: 400,
  sign_in_again: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
} as const

export type RefusalCode = keyof typeof refusals
export const refusalCodes = Object.keys(refusals) as RefusalCode[]

export type GeneralCode = keyof typeof generalRefusals
/** Every word that `x-error-code` of an answer may say. */
export type ErrorCode = RefusalCode | GeneralCode
export const errorCodes = [...refusalCodes, ...Object.keys(generalRefusals)] as ErrorCode[]

const generalCodes = new Map<number, GeneralCode>(
  Object.entries(generalRefusals).map(([code, status]) => [status, code as GeneralCode]),
)
/** The word of a status for which no rule has one. */
export const generalCodeOf = (status: number): GeneralCode =>
  generalCodes.get(status) ?? (status < 500 ? 'bad_request' : 'internal')
/** Names the rule, or what else was wrong, for programs. */
export const errorCodeHeader = 'x-error-code'

/** An answer is a value or a refusal from the closed table; faults are thrown, never answered. */
export type Answer<T> = { ok: T } | Refusal
/** `since`: when an operator began to refuse it, in ISO 8601. */
export type Refusal = { refused: RefusalCode; since?: string }

export const ok = <T>(value: T): Answer<T> => ({ ok: value })
export const refuse = (refused: RefusalCode, since?: string): Refusal =>
  since === undefined ? { refused } : { refused, since }
