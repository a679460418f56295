import { describe, expect, test } from 'bun:test'
import { reviewMicro } from './worth'

const payment = { currency: 'IDR', fiatMinor: 50_000n, ausdMicro: 3_076_923n, paidMinor: 50_000n } as const
const second = (minor: bigint | null, currency: string | null = 'IDR') => ({ minor, currency })

describe('a decision about a payment is worth', () => {
  test.each<[string, Partial<typeof payment> | object, ReturnType<typeof second>[], bigint | null]>([
    ['what was promised, if that was paid', {}, [], 3_076_923n],
    ['what was promised, if less was paid', { paidMinor: 40_000n }, [], 3_076_923n],
    ['what was paid, if that is more', { paidMinor: 100_000n }, [], 6_153_846n],
    ['every further payment, too', {}, [second(50_000n), second(1n)], 6_153_908n],
    ['an unknown sum, if what was paid is unknown', { paidMinor: null }, [], null],
    ['an unknown sum, if a further payment is unknown', {}, [second(null)], null],
    ['an unknown sum, if a further payment has another currency', {}, [second(5n, 'MYR')], null],
  ])('%s', (_, more, seconds, micro) => {
    expect(reviewMicro({ ...payment, ...more }, seconds)).toBe(micro)
  })
})
