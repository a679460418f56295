import { describe, expect, test } from 'bun:test'
import { refusalOfSend } from './send'

const wallet = `0x${'aa'.repeat(20)}`
const token = `0x${'70'.repeat(20)}`
const creditLine = `0x${'c1'.repeat(20)}`
const treasury = `0x${'7e'.repeat(20)}`
const nowSeconds = 1_790_000_000n
const signed = {
  from: wallet,
  to: `0x${'bb'.repeat(20)}`,
  value: '10000',
  validAfter: '0',
  validBefore: String(nowSeconds + 600n),
  nonce: `0x${'11'.repeat(32)}`,
  signature: `0x${'22'.repeat(65)}`,
}
const facts = {
  verified: true,
  frozen: false,
  signatureValid: true,
  isDistrusted: false,
  nonceUsed: false,
  paused: false,
  freeMicro: 10_000n,
}
const zero = `0x${'00'.repeat(20)}`

/** Faults in the order of the checks. Each test combines a fault with all that follow it. */
const ladder = [
  ['wallet_not_from', { from: `0x${'cc'.repeat(20)}` }, {}],
  ['to_zero', { to: zero }, {}],
  ['to_token', { to: token.toUpperCase().replace('X', 'x') }, {}],
  ['to_credit_line', { to: creditLine.toUpperCase().replace('X', 'x') }, {}],
  // guard: no send goes to an address where it is lost or mistaken for an incoming payment
  ['to_treasury', { to: treasury }, {}],
  ['to_self', { to: wallet.toUpperCase().replace('X', 'x') }, {}],
  ['value_zero', { value: '00' }, {}],
  ['value_below_minimum', { value: '9999' }, {}],
  ['valid_before_past', { validBefore: String(nowSeconds) }, {}],
  ['valid_before_soon', { validBefore: String(nowSeconds + 59n) }, {}],
  ['valid_after_not_reached', { validAfter: String(nowSeconds) }, {}],
  ['not_verified', {}, { verified: false }],
  ['signature_invalid', {}, { signatureValid: false }],
  ['gas_budget_spent', {}, { isDistrusted: true }],
  ['wallet_frozen', {}, { frozen: true }],
  ['nonce_used', {}, { nonceUsed: true }],
  ['balance_too_low', {}, { freeMicro: 9_999n }],
  ['ausd_paused', {}, { paused: true }],
] as const

describe('the decision about a send', () => {
  const decide = (words: object, known: object) =>
    refusalOfSend(
      { wallet, token, creditLine, treasury, nowSeconds, signed: { ...signed, ...words } },
      { ...facts, ...known },
    )

  test('accepts a valid one, up to the last micro-unit', () => {
    expect(decide({}, {})).toBeUndefined()
  })

  test('accepts one with a minute left', () => {
    expect(decide({ validBefore: String(nowSeconds + 60n) }, {})).toBeUndefined()
  })

  test.each(ladder)('refuses one with only the fault %s', (code, words, known) => {
    expect(decide(words, known)).toBe(code)
  })

  const steps = ladder.map((step, place) => [step[0], place] as const)
  test.each(steps)('refuses with %s before any later check', (code, place) => {
    const later = ladder.slice(place)
    // Several rows set `to`, so they are applied backwards and the earlier one wins.
    const words = Object.assign({}, ...later.map((step) => step[1]).toReversed())
    const known = Object.assign({}, ...later.map((step) => step[2]))
    expect(decide(words, known)).toBe(code)
  })
})
