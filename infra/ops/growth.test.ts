import { expect, test } from 'bun:test'
import { growthOf, growthText } from './growth'

const sizes = [
  { name: 'payments.journal', rows: 8_000, bytes: 4_000_000, keptDays: null },
  { name: 'payments.inbox', rows: 20_000, bytes: 2_000_000, keptDays: 97 },
]

test('what stays for ever grows for the whole year, what ends by age for as long as it is kept', () => {
  const [journal, inbox] = growthOf(sizes, 2_000, 1_000)
  expect(journal).toMatchObject({ rowsPer1000: 4_000, bytesPer1000: 2_000_000 })
  expect(journal!.bytesInYear).toBe(2_000_000 * 365)
  expect(inbox!.bytesInYear).toBe(1_000_000 * 97)
})

test('without a payment nothing is said of the next ones', () => {
  expect(growthOf(sizes, 0, 1_000).map(({ bytesInYear }) => bytesInYear)).toEqual([0, 0])
})

test('the largest of a year is named first', () => {
  const lines = growthText(growthOf(sizes.toReversed(), 2_000, 1_000), 2_000, 1_000).split('\n')
  expect(lines[2]).toMatch(/^payments\.journal +8000 +3\.8 +4000 +1\.9 +ever +696\.2$/)
  expect(lines.at(-1)).toMatch(/^all /)
})
