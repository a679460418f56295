import { describe, expect, test } from 'bun:test'
import { isHeld } from '../../decide'
import { channelKind } from './channel'

describe('a payment by', () => {
  test.each([
    ['QRIS', 'qr', false],
    ['BCA_VIRTUAL_ACCOUNT', 'bank', false],
    ['AMBANK_VIRTUAL_ACCOUNT', 'bank', false],
    ['MAYB2U_FPX', 'bank', false],
    ['CIMB_FPX_BUSINESS', 'bank', false],
    ['BRI_DIRECT_DEBIT', 'direct_debit', true],
    ['DUITNOW_PAY', 'bank', false],
    ['CARDS', 'card', true],
    ['GOPAY', 'ewallet', true],
    ['SHOPEEPAY', 'ewallet', true],
    ['INDOMARET', 'counter', true],
    ['ATOME', 'paylater', true],
    ['NEVER_SEEN_VIRTUAL_ACCOUNT', 'unknown', true],
    ['qris', 'unknown', true],
    ['constructor', 'unknown', true],
    ['', 'unknown', true],
  ] as const)('%s is %s, held: %p', (code, kind, held) => {
    expect([channelKind(code), isHeld(channelKind(code))]).toEqual([kind, held])
  })
})
