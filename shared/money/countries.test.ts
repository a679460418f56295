import { describe, expect, test } from 'bun:test'
import { countries, countryBy } from '#shared/money/countries'
import { currencies } from '#shared/money/money'
import { accountFor, fiatOf, pairs, providerAccounts } from '#shared/money/pair'

describe('country', () => {
  test.each([
    ['ID', 'IDR', 'USD/IDR', 10_000n, 10_000n],
    ['MY', 'MYR', 'USD/MYR', 500n, null],
  ] as const)('%s pays %s, quoted as %s', (country, currency, pair, topup, cashout) => {
    const row = countryBy('country', country)
    expect(row).toMatchObject({ currency, pair, topupMinMinor: topup, cashoutMinMinor: cashout })
    expect(fiatOf(pair)).toBe(currency)
    expect(accountFor(currency)).toBe(country)
  })

  test('an unknown country is an error, not another country', () => {
    expect(() => fiatOf('USD/SGD' as never)).toThrow('no country has pair USD/SGD')
  })
})

test('every local currency has one country', () => {
  const local = currencies.filter((currency) => currency !== 'AUSD')
  expect(countries.map((row) => row.currency)).toEqual(local as never)
  expect([...pairs]).toEqual(['USD/IDR', 'USD/MYR'])
  expect([...providerAccounts]).toEqual(['ID', 'MY'])
})
