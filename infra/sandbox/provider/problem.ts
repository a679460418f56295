const statuses = {
  API_VALIDATION_ERROR: 400,
  INVALID_VALUE_ERROR: 400,
  INVALID_AMOUNT: 400,
  INVALID_PAYMENT_CHANNEL: 400,
  INVALID_METADATA: 400,
  INVALID_CURRENCY: 400,
  INVALID_COUNTRY: 400,
  INVALID_CUSTOMER_ID: 400,
  INVALID_URL: 400,
  INVALID_EXPIRY_DATE: 400,
  DISALLOWED_CAPTURE_METHOD: 400,
  MISSING_CUSTOMER: 400,
  SESSION_TYPE_NOT_SUPPORTED: 400,
  MODE_NOT_SUPPORTED: 400,
  REFUND_AMOUNT_EXCEEDED: 400,
  REFUND_IN_PROGRESS: 400,
  INELIGIBLE_TRANSACTION_STATUS: 400,
  INACTIVE_PAYMENT_REQUEST: 400,
  CHANNEL_CODE_NOT_SUPPORTED: 400,
  MINIMUM_TRANSFER_LIMIT_ERROR: 400,
  MAXIMUM_TRANSFER_LIMIT_ERROR: 400,
  AMOUNT_INCREMENT_NOT_SUPPORTED: 400,
  CANCELLATION_NOT_ALLOWED: 400,
  INVALID_API_KEY: 401,
  REQUEST_FORBIDDEN_ERROR: 403,
  UNAUTHORIZED_SENDER_IP: 403,
  REFUND_NOT_SUPPORTED: 403,
  PARTIAL_REFUND_NOT_SUPPORTED: 403,
  NOT_FOUND: 404,
  DATA_NOT_FOUND: 404,
  DUPLICATE_ERROR: 409,
  INVALID_SESSION_STATUS: 422,
  RATE_LIMIT_EXCEEDED: 429,
  SERVER_ERROR: 500,
} as const satisfies Record<string, number>

export type ProblemCode = keyof typeof statuses

export type ProblemDetail = { readonly path: string; readonly message: string }

export class Problem extends Error {
  readonly code: ProblemCode
  readonly details: readonly ProblemDetail[]

  constructor(code: ProblemCode, message: string, details: readonly ProblemDetail[] = []) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.details = details
  }

  toAnswer(): { readonly status: number; readonly body: unknown } {
    const { code, message, details } = this
    const body = { error_code: code, message, ...(details.length > 0 && { errors: details }) }
    return { status: statuses[code], body }
  }
}
