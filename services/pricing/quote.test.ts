import { describe, expect, test } from 'bun:test'
import { judgeTaker, type Quote } from './quote'

const nowMs = 1_790_000_000_000
const fresh: Quote = {
  id: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
  pair: 'USD/IDR',
  minorPerUsd: 16_250n,
  spreadBps: 0n,
  use: 'any',
  validFromMs: nowMs - 60_000,
  expiresAtMs: nowMs + 60_000,
}
const ended = (expiresAtMs: number): Quote => ({ ...fresh, expiresAtMs })

describe('a quote', () => {
  // guard: a taken quote is used for every other taker
  test.each([
    ['fresh and free', fresh, null, 'ok'],
    ['in its last millisecond', ended(nowMs + 1), null, 'ok'],
    ['at the moment it expires', ended(nowMs), null, 'quote_expired'],
    // guard: an expired quote is refused
    ['expired and free', ended(nowMs - 1), null, 'quote_expired'],
    ['issued by a clock that was ahead', { ...fresh, validFromMs: nowMs + 1 }, null, 'quote_expired'],
    ['mine already', fresh, 'me', 'ok'],
    ['mine already, and expired', ended(nowMs - 1), 'me', 'ok'],
    ["somebody else's", fresh, 'you', 'quote_used'],
    ["somebody else's, and expired", ended(nowMs - 1), 'you', 'quote_used'],
  ] as const)('that is %s gets the response in the table', (_, quote, requestFingerprint, answer) => {
    expect(judgeTaker(quote, 'me', { requestFingerprint, nowMs })).toEqual(
      answer === 'ok' ? { ok: quote } : { refused: answer },
    )
  })
})
