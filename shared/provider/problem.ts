/** Meaning of an error code; `unknown` is a code that we have never seen. */
export type ProblemMeaning =
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

/** A refusal: the provider understood the request and did nothing. `message` may contain personal data. */
export type ProviderRefusal = {
  readonly status: number
  readonly code: string
  readonly meaning: ProblemMeaning
  readonly message: string
}

/** Error after which the provider may have acted. Only a retry with the same key, or a lookup, resolves it. */
export class ProviderUnknown extends Error {
  override name = 'ProviderUnknown'
  /** The refusal of a lookup, which proves nothing about the object. */
  readonly refusal: ProviderRefusal | undefined
  constructor(message: string, options: ErrorOptions & { refusal?: ProviderRefusal } = {}) {
    super(message, options)
    this.refusal = options.refusal
  }
}

/** Error of a call that the provider's rate limit, or our own below it, blocked: nothing happened. */
export class ProviderBusy extends Error {
  override name = 'ProviderBusy'
  constructor(
    endpoint: string,
    readonly retryAfterMs: number,
  ) {
    super(`${endpoint} is over its rate limit`)
  }
}

/** Statuses that concern the id. With any other status, our account or timing is the cause. */
const statusesOfIds = [400, 404, 410, 422]

/**
 * Returns true if a lookup was refused because of its id, as in a dashboard's tests. For an id of the provider this
 * proves nothing.
 */
export const refusesId = (error: unknown): boolean =>
  error instanceof ProviderUnknown &&
  error.refusal !== undefined &&
  statusesOfIds.includes(error.refusal.status) &&
  error.refusal.meaning !== 'try_later' &&
  error.refusal.meaning !== 'account_misconfigured'

export function noneOfItsForm(error: unknown): undefined {
  if (!refusesId(error)) throw error
}

const groups: readonly [ProblemMeaning, readonly string[]][] = [
  [
    'request_wrong',
    [
      'API_VALIDATION_ERROR',
      'INVALID_VALUE_ERROR',
      'INVALID_URL',
      'INVALID_EXPIRY_DATE',
      'INVALID_CUSTOMER_ID',
      'INVALID_METADATA',
      'INVALID_ITEM_METADATA',
      'MISSING_CUSTOMER',
      'ITEMS_NOT_SUPPORTED',
      'SESSION_TYPE_NOT_SUPPORTED',
      'MODE_NOT_SUPPORTED',
      'DISALLOWED_CAPTURE_METHOD',
      'INVALID_CURRENCY',
      'INVALID_COUNTRY',
      'INVALID_PAYMENT_DETAILS',
      'INVALID_TOKEN',
      'CARD_EXPIRED',
      'SKIP_3DS_FORBIDDEN',
    ],
  ],
  [
    'amount_outside_limits',
    [
      'INVALID_AMOUNT',
      'MINIMUM_TRANSFER_LIMIT_ERROR',
      'MAXIMUM_TRANSFER_LIMIT_ERROR',
      'AMOUNT_INCREMENT_NOT_SUPPORTED',
      'REFUND_AMOUNT_EXCEEDED',
      'INSUFFICIENT_BALANCE',
      'MAXIMUM_REFUND_AMOUNT_REACHED',
      'PARTIAL_REFUND_COUNTS_EXCEEDED',
    ],
  ],
  [
    'channel_unavailable',
    [
      'INVALID_PAYMENT_CHANNEL',
      'INVALID_PRIMARY_PAYMENT_CHANNEL',
      'CHANNEL_UNAVAILABLE',
      'CHANNEL_CODE_NOT_SUPPORTED',
      'REFUND_NOT_SUPPORTED',
      'PARTIAL_REFUND_NOT_SUPPORTED',
    ],
  ],
  ['destination_wrong', ['RECIPIENT_ACCOUNT_NUMBER_ERROR', 'INVALID_DESTINATION']],
  [
    'account_misconfigured',
    [
      'INVALID_API_KEY',
      'REQUEST_FORBIDDEN_ERROR',
      'REQUEST_FORBIDDEN',
      'UNAUTHORIZED',
      'INVALID_MERCHANT_SETTINGS',
      'ACCOUNT_ACCESS_BLOCKED',
      'UNAUTHORIZED_SENDER_IP',
      'FEATURE_NOT_AVAILABLE',
    ],
  ],
  ['not_found', ['NOT_FOUND', 'DATA_NOT_FOUND', 'TRANSACTION_NOT_FOUND']],
  ['conflict', ['DUPLICATE_ERROR', 'IDEMPOTENCY_ERROR', 'DuplicateError']],
  [
    'state_wrong',
    [
      'INVALID_SESSION_STATUS',
      'INACTIVE_PAYMENT_REQUEST',
      'CANCELLATION_NOT_ALLOWED',
      'INELIGIBLE_TRANSACTION_STATUS',
      'INELIGIBLE_TRANSACTION',
      'REFUND_IN_PROGRESS',
      'ACCOUNT_ALREADY_LINKED',
    ],
  ],
  ['try_later', ['RATE_LIMIT_EXCEEDED', 'PAYMENT_REQUEST_RATE_LIMITED', 'TEMPORARILY_UNAVAILABLE']],
]

/** Meanings by error code, from the provider's references for sessions, payments, refunds and payouts. */
const meanings = new Map(groups.flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)))

/**
 * Returns the meaning of a code. An unknown one with 401 or 403 concerns our key, address or account, not the request.
 */
export const meaningOf = (code: string, status = 400): ProblemMeaning =>
  meanings.get(code) ?? (status === 401 || status === 403 ? 'account_misconfigured' : 'unknown')
