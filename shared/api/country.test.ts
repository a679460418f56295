import { expect, test } from 'bun:test'
import { countries } from './country'

test('the list has the 249 two-letter codes of ISO 3166-1', () => {
  expect(countries).toHaveLength(249)
  expect(new Set(countries).size).toBe(249)
  for (const code of countries) expect(code).toMatch(/^[A-Z]{2}$/)
})
test.each(['ID', 'MY', 'SG', 'GB', 'SS'])('%s is assigned', (code) => {
  expect(countries).toContain(code)
})
test.each(['UK', 'XK', 'EU', 'AN', 'ZZ'])('%s is not assigned', (code) => {
  expect(countries).not.toContain(code)
})
