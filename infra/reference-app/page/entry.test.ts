import { describe, expect, test } from 'bun:test'
import { atRate, forBank } from './conversion'
import { type EntryTerms, entryOf, keptEntry, microOf } from './entry'

const rupiahAt = (rate: string, mostMicro?: string): EntryTerms => ({
  currency: 'IDR',
  conversion: atRate({ pair: 'USD/IDR', rate }, 'down'),
  mostMicro,
})
const [rupiah, weaker] = [rupiahAt('16250', '30000013'), rupiahAt('16500', '30000013')]
const ringgit: EntryTerms = { currency: 'MYR', conversion: atRate({ pair: 'USD/MYR', rate: '421' }, 'down') }
const ausd: EntryTerms = { currency: 'AUSD' }
const bank: EntryTerms = { currency: 'IDR', conversion: forBank({ pair: 'USD/IDR', rate: '16250' }) }
const bankWithoutRate: EntryTerms = { currency: 'IDR' }

const typed = { text: '300,000' }
const most = { text: '487,500', micro: '30000013' }

test('the most is entered to the last decimal, and typed by hand it is the same', () => {
  expect(entryOf('30000013', rupiah, 'en')).toEqual(most)
  expect(microOf({ text: '487,500' }, rupiah, 'en')).toBe('30000013')
  expect(microOf({ text: '487,499' }, rupiah, 'en')).toBe('29999939')
  expect(entryOf('30000013', bankWithoutRate, 'en')).toBeUndefined()
})

test.each([
  ['300,000', rupiah, 'en', '18461539'],
  ['300.000', rupiah, 'id', '18461539'],
  ['12.63', ringgit, 'ms', '3000000'],
  ['1.5', ausd, 'en', '1500000'],
  ['300,000', bankWithoutRate, 'en', undefined],
  ['3,00', ringgit, 'en', undefined],
  ['', rupiah, 'en', undefined],
] as const)('%p stands for AUSD', (text, terms, language, micro) => {
  expect(microOf({ text }, terms, language)).toBe(micro)
})

describe('when the rate or the currency changes,', () => {
  test.each([
    ['an amount stays as it was typed', typed, rupiah, weaker, typed],
    ['the most stays so much AUSD', most, rupiah, weaker, { text: '495,000', micro: '30000013' }],
    ['an amount becomes the AUSD that it stood for', typed, rupiah, ausd, { text: '18.461539', micro: '18461539' }],
    ['AUSD is written in local money', { text: '3' }, ausd, ringgit, { text: '12.63', micro: '3000000' }],
    ['an amount is written in the other currency', typed, rupiah, ringgit, { text: '77.72', micro: '18461539' }],
    ['a text that is no amount goes', { text: '3,0' }, rupiah, ringgit, { text: '' }],
    ['an amount without AUSD goes', typed, { currency: 'IDR' }, { currency: 'MYR' }, { text: '' }],
    ['the amount of a bank stays without a rate', typed, bank, bankWithoutRate, typed],
    ['the most of a bank stays without a rate', most, bank, bankWithoutRate, most],
    ['an empty field stays empty', { text: '' }, rupiah, ringgit, { text: '' }],
  ] as const)('%s', (_, entry, before, now, kept) => {
    expect(keptEntry(entry, { before, now, language: 'en' })).toEqual(kept)
  })

  test('an amount that was rewritten means the same AUSD as before, whatever the new rate is', () => {
    const before = microOf(typed, rupiah, 'en')
    for (const now of [ausd, ringgit]) {
      const kept = keptEntry(typed, { before: rupiah, now, language: 'en' })!
      expect(microOf(kept, now, 'en')).toBe(before)
    }
  })
})

test('an entry is left alone while neither the rate nor the currency changes', () => {
  expect(keptEntry(typed, { before: rupiah, now: rupiahAt('16250', '5'), language: 'en' })).toBeUndefined()
})
