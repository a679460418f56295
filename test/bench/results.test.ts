import { describe, expect, test } from 'bun:test'
import { type Aim, aimText, figureText } from './figure'
import { withResults } from './results'

const result = {
  date: '2026-01-02',
  command: 'bun run bench backfill',
  machine: { cpu: 'A', cores: 2, memoryGiB: 4, os: 'Linux 6', bun: '1', loadBefore: 0.1 },
  note: undefined,
  figures: [
    {
      bench: 'backfill',
      name: 'reader',
      value: 6_074.6,
      unit: 'events/s',
      ratio: { value: 0.28649, to: 'viem loop' },
      aim: { of: 'ratio', bound: 'at least', limit: 0.8 } as const,
    },
    { bench: 'ponder', name: 'Ponder', value: null, unit: 'events/s', note: 'no npm' },
  ],
}

describe('withResults', () => {
  const page = 'above\n<!-- results -->\nold\n<!-- /results -->\nbelow\n'

  test('replaces the old results by the figures with an aim, and nothing else', () => {
    const written = withResults(page, result)
    expect(written).toStartWith('above\n<!-- results -->\n')
    expect(written).toEndWith('<!-- /results -->\nbelow\n')
    expect(written).not.toContain('old')
    expect(written).toMatch(/reader +6,075 events\/s {2}0\.286 {2}viem loop {2}ratio ≥ 0\.8, missed/)
    expect(written).not.toContain('Ponder')
  })

  test('can be repeated', () => {
    const once = withResults(page, result)
    expect(withResults(once, result)).toBe(once)
  })

  test('throws if the page has no markers', () => {
    expect(() => withResults('a page without', result)).toThrow('<!-- results -->')
  })
})

test.each([
  [0.06557, '0.0656'],
  [0, '0'],
  [5, '5'],
  [11.52, '11.5'],
  [999.4, '999'],
  [1_234.5, '1,235'],
  [40_728, '40,728'],
])('figureText writes %d as %s', (value, text) => {
  expect(figureText(value)).toBe(text)
})

const ratioFrom: Aim = { of: 'ratio', bound: 'at least', limit: 0.2 }
const valueTo: Aim = { of: 'value', bound: 'at most', limit: 10 }

test.each([
  ['that is met exactly', ratioFrom, 3, 0.2, 'ratio ≥ 0.2, met'],
  ['of the ratio that is missed', ratioFrom, 3, 0.19, 'ratio ≥ 0.2, missed'],
  ['with an upper bound that is met', valueTo, 10, undefined, '≤ 10 ms, met'],
  ['with an upper bound that is missed', valueTo, 10.1, undefined, '≤ 10 ms, missed'],
  ['without a measurement', valueTo, null, undefined, '≤ 10 ms'],
  ['that is absent', undefined, 3, undefined, ''],
] as const)('aimText of an aim %s', (_, aim, value, ratio, text) => {
  const related = ratio === undefined ? {} : { ratio: { value: ratio, to: 'bare' } }
  expect(aimText({ bench: 'b', name: 'f', unit: 'ms', value, ...related, aim })).toBe(text)
})
