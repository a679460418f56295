import { describe, expect, test } from 'bun:test'
import { noFee } from '#shared/money/fee'
import { markEnd, readQuoteId } from './quote-id'
import { openQuoteIssuer } from './quote-issuer'

const rate = { pair: 'USD/IDR', minorPerUsd: 16_250n, spreadBps: 0n, use: 'any' } as const
const quoteSecrets = ['the secret of this suite'] as const
const open = (clock = Date.now) =>
  openQuoteIssuer({ quoteSecrets, cashoutFee: noFee, topupFees: new Map(), quoteTtlMs: 60_000, clock })

describe('new quotes', () => {
  test('contain their lock, and live as long as configured', () => {
    const now = Date.now()
    const { id, ...lock } = open(() => now)(rate)
    expect(readQuoteId(quoteSecrets, id)).toEqual(lock)
    expect(lock.expiresAtMs).toBe(now + 60_000)
  })

  test('of one instance in one millisecond are all different', () => {
    const now = Date.now()
    const mint = open(() => now)
    const ids = Array.from({ length: markEnd }, () => mint(rate).id)
    expect(new Set(ids).size).toBe(markEnd)
  })

  test('of two instances in one millisecond begin at random, so they rarely have the same id', () => {
    const now = Date.now()
    const firsts = Array.from({ length: 100 }, () => open(() => now)(rate).id)
    expect(new Set(firsts).size).toBeGreaterThan(50)
  })
})
