import { describe, expect, test } from 'bun:test'
import { findQuote, lockQuote, type Quote, takeQuote } from './quote'

const nowMs = 1_790_000_000_000
const fresh = lockQuote(
  () => '7f9c24e8-3b1a-4d52-9e0f-1c2d3e4f5a6b',
  { pair: 'USD/IDR', minorPerUsd: 16_250n, spreadBps: 0n },
  { nowMs, ttlMs: 60_000 },
)
const expired: Quote = { ...fresh, expiresAtMs: nowMs - 1 }
const mine = (quote: Quote): Quote => ({ ...quote, takenBy: 'me' })

const table = [
  ['unknown', undefined, { refused: 'quote_unknown' }],
  ['fresh and free', fresh, { taken: mine(fresh), write: true }],
  ['in its last millisecond', { ...fresh, expiresAtMs: nowMs + 1 }, { write: true }],
  ['at the moment it expires', { ...fresh, expiresAtMs: nowMs }, { refused: 'quote_expired' }],
  ['expired and free', expired, { refused: 'quote_expired' }],
  ['mine already', mine(fresh), { taken: mine(fresh), write: false }],
  ['mine already, and expired', mine(expired), { taken: mine(expired), write: false }],
  ["somebody else's", { ...fresh, takenBy: 'you' }, { refused: 'quote_used' }],
  ["somebody else's, and expired", { ...expired, takenBy: 'you' }, { refused: 'quote_used' }],
] as const

describe('a quote', () => {
  test('is locked for exactly its time to live', () => {
    expect(fresh.expiresAtMs).toBe(nowMs + 60_000)
    expect(fresh.takenBy).toBeNull()
  })

  test.each(table)('that is %s is taken as the table says', (_, quote, decision) => {
    expect(takeQuote(quote, 'me', nowMs)).toMatchObject(decision)
  })

  test.each(table)('that is %s is found as it could be taken', (_, quote, decision) => {
    const found = findQuote(quote, 'me', nowMs)
    if ('refused' in decision) expect(found).toEqual({ refused: decision.refused })
    else expect(found).toMatchObject({ ok: { takenBy: 'me' } })
  })
})
