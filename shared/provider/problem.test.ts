import { describe, expect, test } from 'bun:test'
import { meaningOf } from '#shared/provider/problem'

/** Refusals (4xx) in the provider's reference, per endpoint that we call. */
const documented = {
  sessions: [
    'API_VALIDATION_ERROR',
    'INVALID_AMOUNT',
    'INVALID_PAYMENT_CHANNEL',
    'INVALID_METADATA',
    'INVALID_PRIMARY_PAYMENT_CHANNEL',
    'INVALID_ITEM_METADATA',
    'INVALID_CURRENCY',
    'INVALID_COUNTRY',
    'INVALID_CUSTOMER_ID',
    'INVALID_URL',
    'MISSING_CUSTOMER',
    'DISALLOWED_CAPTURE_METHOD',
    'INVALID_EXPIRY_DATE',
    'ITEMS_NOT_SUPPORTED',
    'SESSION_TYPE_NOT_SUPPORTED',
    'MODE_NOT_SUPPORTED',
    'INVALID_API_KEY',
    'DATA_NOT_FOUND',
    'DUPLICATE_ERROR',
    'NOT_FOUND',
    'INVALID_SESSION_STATUS',
  ],
  payouts: [
    'API_VALIDATION_ERROR',
    'CHANNEL_CODE_NOT_SUPPORTED',
    'MINIMUM_TRANSFER_LIMIT_ERROR',
    'MAXIMUM_TRANSFER_LIMIT_ERROR',
    'AMOUNT_INCREMENT_NOT_SUPPORTED',
    'INVALID_API_KEY',
    'RECIPIENT_ACCOUNT_NUMBER_ERROR',
    'REQUEST_FORBIDDEN_ERROR',
    'DUPLICATE_ERROR',
    'DATA_NOT_FOUND',
    'CANCELLATION_NOT_ALLOWED',
  ],
  refunds: [
    'INVALID_VALUE_ERROR',
    'REFUND_AMOUNT_EXCEEDED',
    'TEMPORARILY_UNAVAILABLE',
    'REFUND_IN_PROGRESS',
    'INELIGIBLE_TRANSACTION_STATUS',
    'INSUFFICIENT_BALANCE',
    'PARTIAL_REFUND_COUNTS_EXCEEDED',
    'REFUND_NOT_SUPPORTED',
    'INVALID_MERCHANT_SETTINGS',
    'PARTIAL_REFUND_NOT_SUPPORTED',
    'MAXIMUM_REFUND_AMOUNT_REACHED',
    'TRANSACTION_NOT_FOUND',
    'INELIGIBLE_TRANSACTION',
    'UNAUTHORIZED',
    'IDEMPOTENCY_ERROR',
    'DATA_NOT_FOUND',
  ],
  transactions: ['API_VALIDATION_ERROR', 'FEATURE_NOT_AVAILABLE', 'REQUEST_FORBIDDEN_ERROR', 'UNAUTHORIZED_SENDER_IP'],
} as const

describe.each(Object.entries(documented))('error codes of %s', (_, codes) => {
  test('all have a meaning in our table', () => {
    expect(codes.filter((code) => meaningOf(code) === 'unknown')).toEqual([])
  })
})

test.each(['INVALID_MADE_UP', 'constructor', '__proto__', ''])('the code %p has no meaning', (code) => {
  expect(meaningOf(code)).toBe('unknown')
})
