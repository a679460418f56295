import { expect, test } from 'bun:test'
import type { ReferenceApp } from '../app'
import { mostOf } from './cash-out'

const price = { pair: 'USD/IDR', rate: '16250' } as const

test.each([
  ['the balance', '30000000', '1000000000', 'market_open', '30000000'],
  ['what the limit of the day leaves', '30000000', '29999999', 'market_open', '29999999'],
  ['the balance while the limit is unknown', '30000000', undefined, 'market_open', '30000000'],
  ['the limit of a closed market', '30000000', '1000000000', 'market_closed', '20000000'],
  ['nothing after the limit of the day is used up', '30000000', '0', 'market_closed', '0'],
] as const)('the most of a cash-out is %s', (_, ausd, left, reason, most) => {
  const me = { balance: { ausd }, limits: { cashout: left === undefined ? null : { left } } }
  const config = { cashouts: { marketClosed: { dayAusdMax: '20000000' } } }
  expect(mostOf({ me, config } as ReferenceApp, { ...price, reason })).toBe(most)
})
