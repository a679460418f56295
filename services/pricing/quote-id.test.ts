import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { noFee } from '#shared/money/fee'
import { topupFeesFrom } from '#shared/money/topup-fee'
import { endsFromMs, markEnd, mintQuoteId, rateEnd, readQuoteId, spreadEnd } from './quote-id'

const secret = 'a secret of ours'
const mark = 115
const lock = {
  pair: 'USD/MYR',
  minorPerUsd: 421n,
  spreadBps: 50n,
  use: 'any',
  expiresAtMs: 1_790_000_060_000,
} as const

describe('the id of a quote', () => {
  test.each([
    ['ringgit', lock],
    ['rupiah', { ...lock, pair: 'USD/IDR', minorPerUsd: 16_250n }],
    ['the highest rate there is room for', { ...lock, minorPerUsd: rateEnd - 1n }],
    ['the widest spread there is room for', { ...lock, spreadBps: spreadEnd - 1n }],
    ['nothing but zeros', { pair: 'USD/IDR', minorPerUsd: 0n, spreadBps: 0n, use: 'any', expiresAtMs: endsFromMs }],
    ['that it is for cash-outs, below the reference', { ...lock, spreadBps: -50n, use: 'pay_out' }],
    ['that it is for money that comes in', { ...lock, use: 'pay_in' }],
    ['the last moment there is room for', { ...lock, expiresAtMs: endsFromMs + 2 ** 39 - 1 }],
  ] as const)('contains the locked values: %s', (_, locked) => {
    const id = mintQuoteId(secret, locked, mark)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(readQuoteId([secret], id)).toEqual(locked)
    expect(readQuoteId(['the next', secret], id.toUpperCase())).toEqual(locked)
  })

  // guard: a quote for money that comes in is signed with the fees of its top-ups
  test.each([
    ['any', 'USD/MYR', true],
    ['pay_in', 'USD/MYR', true],
    // The other currency has no fees, and a quote for cash-outs prices no top-up.
    ['any', 'USD/IDR', false],
    ['pay_out', 'USD/MYR', false],
  ] as const)('for %s in %s depends on the fees of its top-ups: %p', (use, pair, depends) => {
    const feesOf = (text: string) => ({
      cashoutFee: noFee,
      topupFees: new Map([['USD/MYR' as const, topupFeesFrom(text)]]),
    })
    const set = feesOf('bank=120+0,card=0+300')
    const locked = { ...lock, use, pair, spreadBps: use === 'pay_out' ? -50n : 50n }
    const id = mintQuoteId(secret, locked, mark, set)
    expect(readQuoteId([secret], id, set)).toEqual(locked)
    for (const other of [feesOf('bank=120+0,card=0+301'), feesOf('card=0+300'), undefined])
      expect(readQuoteId([secret], id, other) === undefined).toBe(depends)
  })

  test('differs for each mark of one moment', () => {
    const ids = Array.from({ length: markEnd }, (_, mark) => mintQuoteId(secret, lock, mark))
    expect(new Set(ids).size).toBe(markEnd)
  })

  test.each([
    ['a rate', { ...lock, minorPerUsd: rateEnd }, mark],
    ['a spread', { ...lock, spreadBps: spreadEnd }, mark],
    ['a spread of the other sign', { ...lock, spreadBps: -1n }, mark],
    ['a time', { ...lock, expiresAtMs: endsFromMs + 2 ** 39 }, mark],
    ['a time before all times', { ...lock, expiresAtMs: endsFromMs - 1 }, mark],
    ['a mark', lock, markEnd],
  ] as const)('refuses a value beyond its bits: %s', (_, locked, given) => {
    expect(() => mintQuoteId(secret, locked, given)).toThrow('does not fit into a quote id')
  })

  // guard: a quote that we did not issue is invalid
  test('security: with any changed digit is invalid', () => {
    const id = mintQuoteId(secret, lock, mark)
    const forged = [...id].flatMap((digit, at) =>
      [...'0123456789abcdef']
        .filter((other) => digit !== '-' && other !== digit)
        .map((other) => id.slice(0, at) + other + id.slice(at + 1)),
    )
    expect(forged).toHaveLength(32 * 15)
    expect(forged.filter((one) => readQuoteId([secret], one))).toEqual([])
  })

  test.each(['4', '7'])('security: under UUID version %s is invalid', (version) => {
    const id = mintQuoteId(secret, lock, mark)
    expect(readQuoteId([secret], id.slice(0, 14) + version + id.slice(15))).toBeUndefined()
  })

  test('security: of other widths is invalid, instead of another rate', () => {
    const hex = mintQuoteId(secret, lock, mark).replaceAll('-', '')
    const said = BigInt(`0x${hex.slice(0, 12)}${hex.slice(13, 16)}`)
    const packed = (said << 18n) | ((BigInt(`0x${hex.slice(16)}`) >> 44n) & ((1n << 18n) - 1n))
    const proofBy = (words: string) =>
      createHmac('sha256', secret).update(`${words}:${packed}`).digest('hex').slice(0, 11)
    const withProof = (proof: string) =>
      `${hex.slice(0, 21)}${proof}`.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    expect(readQuoteId([secret], withProof(proofBy('quote 39-2-18-9-10')))).toEqual(lock)
    expect(readQuoteId([secret], withProof(proofBy('quote 39-2-18-9-9')))).toBeUndefined()
  })

  test.each([
    ['one of a secret that is not ours', mintQuoteId('another', lock, mark)],
    ['a random one', '7f9c24e8-3b1a-4d52-9e0f-1c2d3e4f5a6b'],
    ['one of zeros', '00000000-0000-4000-8000-000000000000'],
    ['a word', 'quote'],
  ])('security: %s is invalid', (_, id) => {
    expect(readQuoteId([secret], id)).toBeUndefined()
  })
})
