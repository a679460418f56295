import { expect, test } from 'bun:test'
import { ratesText } from './status'

const rupiah = { pair: 'USD/IDR', rate: '16250', source: 'bi', ageMs: 60_000 }

test.each([
  ['market_closed', 'no rate for cash-outs: the market is closed, and no open one confirms it'],
  ['no_cross_check', 'no rate for cash-outs: no other source confirms it'],
  ['sources_differ', 'no rate for cash-outs: the sources differ'],
] as const)('status says why there is no rate for cash-outs: %s', (state, why) => {
  expect(ratesText({ ...rupiah, state, cashoutRate: null }).at(-1)).toBe(why)
})

test('status says nothing of cash-outs while they have a rate, nor of ringgit, which are not paid out', () => {
  const state = 'no_cross_check'
  expect(ratesText({ ...rupiah, state: 'market_open', cashoutRate: '16250' })).toHaveLength(2)
  expect(ratesText({ ...rupiah, pair: 'USD/MYR', rate: '421', state, cashoutRate: null })).toHaveLength(2)
})

test('status says why there is no rate at all', () => {
  expect(ratesText({ pair: 'USD/IDR', unavailable: 'sources differ by 400 bps' })).toEqual([
    'sources differ by 400 bps',
  ])
})
