import { describe, expect, test } from 'bun:test'
import { type Language, languages } from '#shared/language/language'
import type { Currency } from '#shared/money/money'
import {
  amountExample,
  ausdFor,
  bankOf,
  cashoutFor,
  durationText,
  fiatFor,
  groupedText,
  inCents,
  languageOf,
  moneyText,
  numberText,
  parseAmount,
  percentText,
  topupFor,
} from './format'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

describe('an amount', () => {
  test.each([
    ['50000', 'IDR', 'en', 'Rp 50,000'],
    ['50000', 'IDR', 'id', 'Rp 50.000'],
    ['123456', 'MYR', 'ms', 'RM 1,234.56'],
    ['5', 'MYR', 'id', 'RM 0,05'],
    ['1000000', 'AUSD', 'en', '1.00 AUSD'],
    ['12384615', 'AUSD', 'id', '12,384615 AUSD'],
    ['0', 'AUSD', 'ms', '0.00 AUSD'],
    ['90071992547409931000000', 'AUSD', 'en', '90,071,992,547,409,931.00 AUSD'],
  ] as [string, Currency, Language, string][])('%s %s is written in %s as %s', (minor, ...rest) => {
    const [currency, language, text] = rest
    expect(plain(moneyText(minor, currency, language))).toBe(text)
  })

  test.each([
    ['500,000', 'IDR', 'en', '500000'],
    ['500.000', 'IDR', 'id', '500000'],
    ['500000', 'IDR', 'ms', '500000'],
    ['5.5', 'MYR', 'ms', '550'],
    ['1.234,5', 'AUSD', 'id', '1234500000'],
    ['1.500', 'AUSD', 'en', '1500000'],
    ['1.500', 'AUSD', 'id', '1500000000'],
    ['0.000001', 'AUSD', 'en', '1'],
    ['007', 'IDR', 'en', '7'],
  ] as [string, Currency, Language, string][])('%s %s typed in %s is %s', (text, ...rest) => {
    const [currency, language, minor] = rest
    expect(parseAmount(text, currency, language)).toBe(minor)
  })

  test.each([
    ['500000', 'IDR', 'en', '500,000'],
    ['1500000', 'IDR', 'id', '1.500.000'],
    ['1234.5', 'AUSD', 'en', '1,234.5'],
    ['1500,75', 'MYR', 'id', '1.500,75'],
    ['1.500.000', 'IDR', 'id', '1.500.000'],
    ['1.5', 'AUSD', 'id', '1.5'],
    ['1,5', 'AUSD', 'en', '1,5'],
    ['12a45', 'IDR', 'en', '12a45'],
  ] as [string, Currency, Language, string][])('%s typed key by key in %s and %s becomes %s', (keys, ...rest) => {
    const [currency, language, text] = rest
    const typed = [...keys].reduce((last, key) => groupedText(last, last + key, currency, language), '')
    expect(typed).toBe(text)
  })

  test('a digit that is deleted leaves the others grouped, and a pasted text stays as it is', () => {
    expect(groupedText('1,234,567', '1,234,56', 'IDR', 'en')).toBe('123,456')
    expect(groupedText('', '1,50', 'AUSD', 'en')).toBe('1,50')
  })

  test.each([
    ['1.5', 'AUSD', 'id'],
    ['1,5', 'AUSD', 'en'],
    ['50.00', 'IDR', 'en'],
    ['5.555', 'MYR', 'ms'],
    ['0.0000001', 'AUSD', 'en'],
    ['-5', 'IDR', 'en'],
    ['1e3', 'IDR', 'en'],
    ['1,00,000', 'IDR', 'en'],
    ['', 'IDR', 'en'],
  ] as [string, Currency, Language][])('%p %s typed in %s is refused', (text, currency, language) => {
    expect(parseAmount(text, currency, language)).toBeUndefined()
  })

  test('shown as an example can be typed in every language', () => {
    for (const language of languages)
      for (const currency of ['AUSD', 'IDR', 'MYR'] as const)
        expect(parseAmount(amountExample(currency, language), currency, language)).toMatch(/^\d+$/)
  })
})

test.each([
  ['153846153', 'down', '153.84'],
  ['153846153', 'up', '153.85'],
  ['10000000', 'up', '10.00'],
  ['1', 'down', '0.00'],
  ['1', 'up', '0.01'],
  ['0', 'up', '0.00'],
] as const)('%s micro of AUSD, rounded %s, are read as %s', (micro, rounding, text) => {
  expect(numberText(inCents(micro, rounding), 'AUSD', 'en')).toBe(text)
})

test('a rate keeps every decimal of its source', () => {
  expect(plain(moneyText('421.35', 'MYR', 'en'))).toBe('RM 4.2135')
  expect(plain(moneyText('16250.125', 'IDR', 'id'))).toBe('Rp 16.250,125')
  expect(percentText(50, 'id')).toBe('0,5%')
})

test('a payout is rounded down, a charge up, and an amount of AUSD down', () => {
  const quote = { pair: 'USD/IDR', rate: '16250' } as const
  expect(fiatFor('1000001', quote, 'down')).toBe('16250')
  expect(fiatFor('1000001', quote, 'up')).toBe('16251')
  expect(fiatFor('1000000', quote, 'up')).toBe('16250')
  expect(ausdFor('500000', quote)).toBe('30769230')
})

test('a payout is reduced by the fee of its quote, which is rounded up', () => {
  const quote = { pair: 'USD/IDR', rate: '16250' } as const
  expect(cashoutFor('5000000', quote)).toEqual({ fee: '0', fiat: '81250' })
  const charged = { ...quote, cashoutFee: { fixed: '5550', bps: 25 } }
  expect(cashoutFor('5000000', charged)).toEqual({ fee: '5754', fiat: '75496' })
  expect(cashoutFor('100000', charged)).toEqual({ fee: '5555', fiat: '0' })
})

test('a top-up lists the fee and the AUSD of each channel of its checkout, and those without a fee together', () => {
  const quote = { pair: 'USD/IDR', rate: '16250' } as const
  const free = { fee: '0', rest: '100000', ausd: '6153846' }
  expect(topupFor('100000', quote, 'qr')).toEqual([{ channel: 'any', ...free }])
  const topupFees = [
    { channel: 'qr', fixed: '0', bps: 70 },
    { channel: 'card', fixed: '2220', bps: 322 },
  ] as const
  const byQr = { channel: 'qr', fee: '700', rest: '99300', ausd: '6110769' } as const
  const byCard = { channel: 'card', fee: '5440', rest: '94560', ausd: '5819076' } as const
  const charged = { ...quote, topupFees: [...topupFees] }
  expect(topupFor('100000', charged, 'bank')).toEqual([byQr, byCard, { channel: 'other', ...free }])
  expect(topupFor('100000', charged, 'card')).toEqual([byCard])
  // A checkout for cards alone has no other channel, whatever fees the others have.
  expect(topupFor('100000', { ...quote, topupFees: [topupFees[0]] }, 'card')).toEqual([{ channel: 'any', ...free }])
})

test('a duration is written in its largest whole unit', () => {
  expect(durationText(60, 'en')).toBe('1 minute')
  expect(durationText(15, 'en')).toBe('15 seconds')
  expect(durationText(691_200, 'id')).toBe('8 hari')
  expect(durationText(5_400, 'en')).toBe('90 minutes')
})

test('the language is the stored one, else the first of the browser, else English', () => {
  expect(languageOf('ms', ['id-ID'])).toBe('ms')
  expect(languageOf(null, ['fr-FR', 'id-ID'])).toBe('id')
  expect(languageOf(null, ['fr-FR'])).toBe('en')
})

test.each([
  ['Bank Central Asia', 'ID_BCA'],
  ['bca', 'ID_BCA'],
  [' BCA syr ', 'ID_BCA_SYR'],
  ['central', 'ID_BCA'],
  ['digital', 'ID_BCA_DIGITAL'],
  ['bank', undefined],
  ['', undefined],
  ['Bank of Nowhere', undefined],
])('the bank that %p means is %p', (text, code) => {
  const banks = [
    { code: 'ID_BCA', name: 'Bank Central Asia' },
    { code: 'ID_BCA_SYR', name: 'Bank BCA Syariah' },
    { code: 'ID_BCA_DIGITAL', name: 'blu by BCA Digital' },
  ]
  expect(bankOf(banks, text)?.code).toBe(code)
})
