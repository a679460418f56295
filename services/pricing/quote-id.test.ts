import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { endsFromMs, mintQuoteId, rateEnd, readQuoteId, serialEnd, spreadEnd } from './quote-id'

const secret = 'a secret of ours'
const lock = {
  pair: 'USD/MYR',
  ...{ minorPerUsd: 421n, spreadBps: 50n },
  expiresAtMs: 1_790_000_060_000,
} as const

describe('the id of a quote', () => {
  test.each([
    ['ringgit', lock],
    ['rupiah', { ...lock, pair: 'USD/IDR', minorPerUsd: 16_250n }],
    ['the highest rate there is room for', { ...lock, minorPerUsd: rateEnd - 1n }],
    ['the widest spread there is room for', { ...lock, spreadBps: spreadEnd - 1n }],
    [
      'nothing but zeros',
      { pair: 'USD/IDR', minorPerUsd: 0n, spreadBps: 0n, expiresAtMs: endsFromMs },
    ],
    ['the last moment there is room for', { ...lock, expiresAtMs: endsFromMs + 2 ** 39 - 1 }],
  ] as const)('says what was locked: %s', (_, locked) => {
    const id = mintQuoteId(secret, locked, 7)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(readQuoteId([secret], id)).toEqual(locked)
    expect(readQuoteId(['the next', secret], id.toUpperCase())).toEqual(locked)
  })

  test('is another for each serial number of one moment', () => {
    const serials = Array.from({ length: serialEnd }, (_, serial) => serial)
    const ids = serials.map((serial) => mintQuoteId(secret, lock, serial))
    expect(new Set(ids).size).toBe(serialEnd)
  })

  test.each([
    ['a rate', { ...lock, minorPerUsd: rateEnd }, 0],
    ['a spread', { ...lock, spreadBps: spreadEnd }, 0],
    ['a time', { ...lock, expiresAtMs: endsFromMs + 2 ** 39 }, 0],
    ['a time before all times', { ...lock, expiresAtMs: endsFromMs - 1 }, 0],
    ['a serial number', lock, serialEnd],
  ] as const)('has no room for %s beyond its bits, and says so', (_, locked, serial) => {
    expect(() => mintQuoteId(secret, locked, serial)).toThrow('has no room in a quote id')
  })

  test('security: a forger changes any digit, and it proves nothing', () => {
    const id = mintQuoteId(secret, lock, 0)
    const forged = [...id].flatMap((digit, at) =>
      [...'0123456789abcdef']
        .filter((other) => digit !== '-' && other !== digit)
        .map((other) => id.slice(0, at) + other + id.slice(at + 1)),
    )
    expect(forged).toHaveLength(32 * 15)
    expect(forged.filter((one) => readQuoteId([secret], one))).toEqual([])
  })

  test('security: one of other widths proves nothing, instead of another rate', () => {
    const id = mintQuoteId(secret, lock, 0)
    const hex = id.replaceAll('-', '')
    const said = BigInt(`0x${hex.slice(0, 12)}${hex.slice(13, 16)}`)
    const packed = (said << 14n) | ((BigInt(`0x${hex.slice(16)}`) >> 48n) & ((1n << 14n) - 1n))
    const digest = createHmac('sha256', secret).update(`quote:${packed}`).digest('hex')
    const older = id.slice(0, 24) + digest.slice(0, 12)
    expect(readQuoteId([secret], older)).toBeUndefined()
  })

  test.each([
    ['one of a secret that is not ours', mintQuoteId('another', lock, 0)],
    ['a random one', '7f9c24e8-3b1a-4d52-9e0f-1c2d3e4f5a6b'],
    ['one of zeros', '00000000-0000-4000-8000-000000000000'],
    ['a word', 'quote'],
  ])('security: %s proves nothing', (_, id) => {
    expect(readQuoteId([secret], id)).toBeUndefined()
  })
})
