type DeclaredRefusal = {
  readonly status: 400 | 403 | 429 | 503
  readonly message: string
  /** Time after which a retry may succeed: after midnight in the country of the money, or in an hour. `Retry-After` has the seconds. */
  readonly ends?: 'midnight' | 'hour'
}

/**
 * Refusals with their status and English message; the other languages are in `shared/language/refusals.ts`. Services
 * exchange only the code.
 */
export const refusals = {
  quote_unknown: { status: 400, message: 'This quote is not valid. Request a new one.' },
  quote_expired: { status: 400, message: 'This quote has expired. Request a new one.' },
  quote_used: { status: 400, message: 'This quote has already been used.' },
  quote_not_idr: { status: 400, message: 'Cash-outs require a USD/IDR quote.' },
  cashout_rate_unavailable: {
    status: 400,
    message:
      'No cash-outs for now: the currency market is closed, or rate sources disagree. Try again on the next banking day.',
  },
  quote_for_cashouts: { status: 400, message: 'This price is for cash-outs only. Get a new price.' },
  rate_unavailable: { status: 503, message: 'Exchange rate unavailable. Try again shortly.' },

  not_verified: { status: 403, message: 'verify your identity first' },
  terms_not_accepted: { status: 403, message: 'Accept the current terms of service first.' },
  not_in_pilot: {
    status: 403,
    message: 'This service is open only to invited wallets for now. You can still repay what you owe.',
  },
  wallet_frozen: {
    status: 403,
    message: 'Wallet frozen: a payment was reversed. Top up by bank transfer or QR to repay it.',
  },
  wallet_in_doubt: {
    status: 403,
    message:
      'Wallet frozen: a payment is being checked, for example because a refund or dispute is open. You owe nothing yet. Wait for the outcome, or contact support.',
  },

  amount_below_minimum_idr: { status: 400, message: 'The minimum amount is Rp 10,000.' },
  amount_below_minimum_myr: { status: 400, message: 'The minimum amount is RM 5.00.' },
  amount_above_maximum: {
    status: 400,
    message: 'Amount exceeds the limit of every payment method.',
  },

  amount_above_day_limit: { status: 400, message: 'Amount exceeds the daily limit.' },
  topups_open_too_many: {
    status: 400,
    message: 'You have too many open top-ups. Pay or cancel one, or wait for one to expire.',
  },
  topups_open_too_much: {
    status: 400,
    message: 'Your open top-ups exceed the limit. Pay or cancel one, or wait for one to expire.',
  },
  day_limit_reached: {
    status: 429,
    ends: 'midnight',
    message:
      'Daily limit reached. Try a smaller amount, or try again after midnight in Jakarta (in Kuala Lumpur for ringgit).',
  },
  day_limit_of_all_reached: {
    status: 429,
    ends: 'midnight',
    message:
      "Today's limit for all users together is reached. Try a smaller amount, or try again after midnight in Jakarta.",
  },
  topups_day_too_many: {
    status: 429,
    ends: 'midnight',
    message: 'Too many top-ups today. Try again after midnight in Jakarta (in Kuala Lumpur for ringgit).',
  },
  cashouts_refused_too_many: {
    status: 429,
    ends: 'midnight',
    message:
      'Banks have refused too many cash-outs of this wallet or to this account today. Check the details, and try again after midnight in Jakarta.',
  },
  account_checks_too_many: {
    status: 429,
    ends: 'midnight',
    message: 'Too many account checks today. You can cash out without one, or try again after midnight in Jakarta.',
  },
  gas_budget_spent: {
    status: 429,
    ends: 'midnight',
    message: 'Too many transfers today. Try again after midnight in Jakarta.',
  },

  verification_limit_reached: {
    status: 429,
    ends: 'midnight',
    message: 'Too many verification links today. Use the last one, or try again after midnight in Jakarta.',
  },
  statement_too_long: {
    status: 400,
    message: 'This period has too many items for one statement. Choose a shorter one.',
  },
  export_limit_reached: { status: 429, message: 'Too many exports today. Try again later.' },

  cancellation_unconfirmed: {
    status: 503,
    message: 'The cancellation is not confirmed yet. The checkout may still be paid. Try again.',
  },
  cancellations_too_many: {
    status: 429,
    ends: 'midnight',
    message: 'Too many checkouts cancelled today. This one closes by itself if it is not paid.',
  },

  nothing_owed: { status: 400, message: 'nothing is owed' },
  settlement_on_its_way: {
    status: 400,
    message: 'A payment for this debt is already in progress.',
  },
  settlements_too_many: {
    status: 429,
    ends: 'hour',
    message: 'Too many checkouts for this debt. Pay the open one, or try again in an hour.',
  },
  debt_too_large: {
    status: 400,
    message: 'The debt is too large to pay by checkout. First repay a part of it from the AUSD in your wallet.',
  },
  debt_too_small: {
    status: 400,
    message: 'The debt is too small to pay by checkout. Repay it from the AUSD in your wallet.',
  },

  wallet_not_from: { status: 400, message: 'authorization.from must be your wallet' },
  to_not_treasury: { status: 400, message: 'authorization.to must be the treasury' },
  to_zero: { status: 400, message: 'This address cannot receive AUSD.' },
  to_token: { status: 400, message: 'This address cannot receive AUSD.' },
  to_credit_line: { status: 400, message: 'This address cannot receive AUSD.' },
  to_treasury: { status: 400, message: 'This address cannot receive AUSD.' },
  to_self: { status: 400, message: 'This is your own wallet.' },
  value_zero: { status: 400, message: 'The amount must be more than 0.' },
  value_below_minimum: { status: 400, message: 'The minimum transfer is 0.01 AUSD.' },
  valid_before_too_near: {
    status: 400,
    message: 'authorization.validBefore must be at least 5 minutes in the future',
  },
  valid_before_past: { status: 400, message: 'authorization.validBefore must be in the future' },
  valid_before_soon: {
    status: 400,
    message: 'authorization.validBefore must be at least 60 seconds in the future',
  },
  valid_after_not_reached: { status: 400, message: 'authorization.validAfter must be in the past' },
  payout_below_minimum: { status: 400, message: 'The minimum payout is Rp 10,000.' },
  payout_below_bank_minimum: {
    status: 400,
    message: 'The payout is below the minimum of this bank.',
  },
  payout_above_maximum: { status: 400, message: 'The payout is above the maximum of this bank.' },
  payout_not_in_increment: {
    status: 400,
    message: 'This bank only accepts payouts in fixed increments. Change the amount.',
  },
  bank_unknown: { status: 400, message: 'This bank is not supported.' },
  bank_account_format: {
    status: 400,
    message: 'The account number has the wrong number of digits for this bank.',
  },
  bank_account_refused: {
    status: 400,
    message: 'We do not pay out to this bank account. Use another one, or contact support.',
  },
  signature_invalid: {
    status: 400,
    message: 'authorization.signature is not a valid signature of this transfer by authorization.from',
  },
  balance_too_low: { status: 400, message: 'Your wallet does not hold enough AUSD.' },
  nonce_used: { status: 400, message: 'authorization.nonce has already been used or cancelled' },
  authorization_conflict: {
    status: 400,
    message: 'authorization.nonce has already been sent with different content',
  },

  provider_unavailable: {
    status: 503,
    message: 'The payment provider is unavailable. Try again with the same quote.',
  },
  payer_name_unavailable: {
    status: 503,
    message:
      'Your verified name, which bank transfers need, is not available right now. Try again with the same quote, or pay by card.',
  },
  treasury_short: {
    status: 503,
    message: "We can't accept a top-up of this size right now. Try a smaller amount or try again later.",
  },
  treasury_empty: {
    status: 503,
    message: "We can't settle this debt right now. Try again later, or repay it from the AUSD in your wallet.",
  },
  payouts_short: {
    status: 503,
    message: "We can't pay out that much rupiah right now. Try a smaller amount or try again later.",
  },
  topups_paused: {
    status: 503,
    message: 'Top-ups are temporarily paused. Try again later with a new quote.',
  },
  cashouts_paused: {
    status: 503,
    message: 'Cash-outs are temporarily paused. Try again later with a new quote.',
  },
  ausd_paused: {
    status: 503,
    message: 'The issuer of AUSD has paused transfers. Try again later.',
  },
  relaying_paused: {
    status: 503,
    message: 'Transfers are temporarily paused. Try again later.',
  },
  chain_unavailable: { status: 503, message: 'The network is unavailable. Try again.' },
  indexer_lags: { status: 503, message: 'The credit record is not up to date. Try again later.' },
} as const satisfies Record<string, DeclaredRefusal>

/** Refusals about the request, its sender or the service rather than a business rule. */
export const generalRefusals = {
  bad_request: 400,
  sign_in_again: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  unsupported_encoding: 415,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
} as const

export type RefusalCode = keyof typeof refusals
export const refusalCodes = Object.keys(refusals) as RefusalCode[]

export type GeneralCode = keyof typeof generalRefusals
/** Values of the `x-error-code` header. */
export type ErrorCode = RefusalCode | GeneralCode
export const errorCodes = [...refusalCodes, ...Object.keys(generalRefusals)] as ErrorCode[]

export const statusOf = (code: ErrorCode): number =>
  code in refusals ? refusals[code as RefusalCode].status : generalRefusals[code as GeneralCode]

const generalCodes = new Map<number, GeneralCode>(
  Object.entries(generalRefusals).map(([code, status]) => [status, code as GeneralCode]),
)
export const generalCodeOf = (status: number): GeneralCode =>
  generalCodes.get(status) ?? (status < 500 ? 'bad_request' : 'internal')
export const errorCodeHeader = 'x-error-code'

/** A result or a refusal; faults are thrown, never returned. */
export type Answer<T> = { ok: T } | Refusal
/** A refusal; `since` is when an operator paused the operation, in ISO 8601. */
export type Refusal = { refused: RefusalCode; since?: string }

export const ok = <T>(value: T): Answer<T> => ({ ok: value })
export const refuse = (refused: RefusalCode, since?: string): Refusal =>
  since === undefined ? { refused } : { refused, since }
