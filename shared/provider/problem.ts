/** What a refusal of the provider means to us; `unknown` for a word we have never seen. */
export type ProviderMeaning =
  | 'request_wrong'
  | 'amount_outside_limits'
  | 'channel_unavailable'
  | 'destination_wrong'
  | 'account_misconfigured'
  | 'not_found'
  | 'conflict'
  | 'state_wrong'
  | 'try_later'
  | 'unknown'

/** A refusal: the provider understood, did nothing, and says why. `message` may name people. */
export type ProviderRefusal = {
  readonly status: number
  readonly code: string
  readonly meaning: ProviderMeaning
  readonly message: string
}

/**
 * Nobody knows whether the provider acted: no answer in time, a broken connection, a 5xx, or an
 * answer that cannot be read. Resolved only by evidence: the same key again, or a lookup.
 */
export class ProviderUnknown extends Error {
  override name = 'ProviderUnknown'
  /** Set when a lookup was refused, which says nothing about what was asked for. */
  readonly refusal: ProviderRefusal | undefined
  constructor(message: string, options: ErrorOptions & { refusal?: ProviderRefusal } = {}) {
    super(message, options)
    this.refusal = options.refusal
  }
}

/** The provider's rate limit, or our own under it, let no call through, so nothing happened. */
export class ProviderBusy extends Error {
  override name = 'ProviderBusy'
  constructor(
    endpoint: string,
    readonly retryAfterMs: number,
  ) {
    super(`${endpoint} is over its rate limit`)
  }
}

/** With these a look-up refuses what it was asked for; with all others, us or the moment. */
const statusesOfIds = [400, 404, 410, 422]

/**
 * Whether a look-up was refused because of the id it was asked for: 400 for an id of another form than
 * the provider's own, as its dashboard's test deliveries name them. It says that there is no such
 * object only of an id that somebody else told us; one that the provider itself gave us is unknown then.
 */
export const refusesId = (error: unknown): boolean =>
  error instanceof ProviderUnknown &&
  error.refusal !== undefined &&
  statusesOfIds.includes(error.refusal.status) &&
  error.refusal.meaning !== 'try_later' &&
  error.refusal.meaning !== 'account_misconfigured'

/** To catch: an id of another form leads to nothing. Whatever else failed is thrown on. */
export function noneOfItsForm(error: unknown): undefined {
  if (!refusesId(error)) throw error
}

const groups: readonly [ProviderMeaning, readonly string[]][] = [
  [
    'request_wrong',
    [
      ...['API_VALIDATION_ERROR', 'INVALID_VALUE_ERROR', 'INVALID_URL', 'INVALID_EXPIRY_DATE'],
      ...['INVALID_CUSTOMER_ID', 'INVALID_METADATA', 'INVALID_ITEM_METADATA', 'MISSING_CUSTOMER'],
      ...['ITEMS_NOT_SUPPORTED', 'SESSION_TYPE_NOT_SUPPORTED', 'MODE_NOT_SUPPORTED'],
      ...['DISALLOWED_CAPTURE_METHOD', 'INVALID_CURRENCY', 'INVALID_COUNTRY'],
      ...['INVALID_PAYMENT_DETAILS', 'INVALID_TOKEN', 'CARD_EXPIRED', 'SKIP_3DS_FORBIDDEN'],
    ],
  ],
  [
    'amount_outside_limits',
    [
      ...['INVALID_AMOUNT', 'MINIMUM_TRANSFER_LIMIT_ERROR', 'MAXIMUM_TRANSFER_LIMIT_ERROR'],
      ...['AMOUNT_INCREMENT_NOT_SUPPORTED', 'REFUND_AMOUNT_EXCEEDED', 'INSUFFICIENT_BALANCE'],
      ...['MAXIMUM_REFUND_AMOUNT_REACHED', 'PARTIAL_REFUND_COUNTS_EXCEEDED'],
    ],
  ],
  [
    'channel_unavailable',
    [
      ...['INVALID_PAYMENT_CHANNEL', 'INVALID_PRIMARY_PAYMENT_CHANNEL', 'CHANNEL_UNAVAILABLE'],
      ...['CHANNEL_CODE_NOT_SUPPORTED', 'REFUND_NOT_SUPPORTED', 'PARTIAL_REFUND_NOT_SUPPORTED'],
    ],
  ],
  ['destination_wrong', ['RECIPIENT_ACCOUNT_NUMBER_ERROR', 'INVALID_DESTINATION']],
  [
    'account_misconfigured',
    [
      ...['INVALID_API_KEY', 'REQUEST_FORBIDDEN_ERROR', 'REQUEST_FORBIDDEN', 'UNAUTHORIZED'],
      ...['INVALID_MERCHANT_SETTINGS', 'ACCOUNT_ACCESS_BLOCKED', 'UNAUTHORIZED_SENDER_IP'],
      ...['FEATURE_NOT_AVAILABLE'],
    ],
  ],
  ['not_found', ['NOT_FOUND', 'DATA_NOT_FOUND', 'TRANSACTION_NOT_FOUND']],
  ['conflict', ['DUPLICATE_ERROR', 'IDEMPOTENCY_ERROR', 'DuplicateError']],
  [
    'state_wrong',
    [
      ...['INVALID_SESSION_STATUS', 'INACTIVE_PAYMENT_REQUEST', 'CANCELLATION_NOT_ALLOWED'],
      ...['INELIGIBLE_TRANSACTION_STATUS', 'INELIGIBLE_TRANSACTION', 'REFUND_IN_PROGRESS'],
      ...['ACCOUNT_ALREADY_LINKED'],
    ],
  ],
  ['try_later', ['RATE_LIMIT_EXCEEDED', 'PAYMENT_REQUEST_RATE_LIMITED', 'TEMPORARILY_UNAVAILABLE']],
]

/** The provider's error codes, as its references for sessions, payments, refunds and payouts list them. */
const meanings = new Map(
  groups.flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
)

/**
 * What a code means. One that we have never seen is about our key, our address or our account when the
 * status says so: 401 and 403 refuse whoever asks, whatever was asked for.
 */
export const meaningOf = (code: string, status = 400): ProviderMeaning =>
  meanings.get(code) ?? (status === 401 || status === 403 ? 'account_misconfigured' : 'unknown')
