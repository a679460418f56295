import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { refusals } from '#shared/declared-refusals'
import { accountTexts } from '#shared/language/account'
import {
  type Code,
  catalogue,
  isKnown,
  parametersOf,
  sentenceOf,
  type TextRef,
  textIn,
} from '#shared/language/catalogue'
import { type Language, languages, type Text } from '#shared/language/language'
import { paymentTexts } from '#shared/language/payments'
import { refusalTexts } from '#shared/language/refusals'
import { requestTexts } from '#shared/language/requests'
import { dateIn, dateStartMs, midnight, midnightOfRinggit, timeText, zoneOf } from '#shared/language/time'
import { autoRepayTexts, cashoutTexts, transferTexts } from '#shared/language/transfers'
import { refusalCodes } from '#shared/refusals'

const entries = Object.entries(catalogue) as [Code, Text][]

const values: Readonly<Record<string, string>> = {
  ausd: '1234567890000',
  dueAt: '1797836459',
  defaultsAt: '1798441200',
  since: '2026-11-21T07:00:00.000Z',
}
const refOf = (code: Code): TextRef => {
  const names = parametersOf(catalogue[code].en)
  return {
    code,
    ...Object.fromEntries(names.map((name) => [name, values[name] ?? `<${name}>`])),
  } as TextRef
}

describe('a text of the catalogue', () => {
  test.each(entries)('is in every language, with the same parameters: %s', (_, text) => {
    const [first, ...others] = languages.map((language) => parametersOf(text[language]).sort())
    for (const other of others) expect(other).toEqual(first!)
    for (const language of languages) expect(text[language].trim()).toMatch(/^\S.*\S$/s)
  })

  test.each(entries)('is rendered whole in every language: %s', (code, text) => {
    for (const language of languages) {
      const rendered = textIn(language, [refOf(code)])
      expect(rendered).not.toMatch(/undefined|NaN|Invalid|[{}]/)
      for (const name of parametersOf(text.en)) if (!values[name]) expect(rendered).toContain(`<${name}>`)
    }
  })

  test.each(entries)('ends in every language as it does in English: %s', (_, { en, ...others }) => {
    for (const text of Object.values(others)) expect(text.endsWith('.')).toBe(en.endsWith('.'))
  })

  test('is under one code only, in one part', () => {
    const parts = [refusalTexts, requestTexts, accountTexts, paymentTexts, cashoutTexts, transferTexts, autoRepayTexts]
    const codes = parts.flatMap((part) => Object.keys(part))
    expect(codes.toSorted()).toEqual(Object.keys(catalogue).toSorted())
  })

  test('cannot lack a language or a parameter', () => {
    // @ts-expect-error Malay is missing.
    const part: Text = { en: 'Paid.', id: 'Dibayar.' }
    // @ts-expect-error The amount is missing.
    const owed: TextRef = { code: 'payment.owed' }
    expect([Object.keys(part), isKnown(owed)]).toEqual([['en', 'id'], false])
  })
})

test('amounts and times have the form of the language', () => {
  const owed = { code: 'payment.owed', ausd: '1538462' } as const
  const due = { code: 'due.in_time', dueAt: '1797836459' } as const
  expect(textIn('id', [owed])).toStartWith('Pembayaran ini dibatalkan, jadi ada 1,538462 AUSD yang')
  expect(textIn('ms', [owed])).toStartWith('Anda perlu membayar 1.538462 AUSD untuk')
  expect(textIn('en', [due])).toStartWith('Repay by 21 December 2026, 07:00 UTC. A later')
  expect(textIn('id', [due])).toStartWith('Bayar paling lambat 21 Desember 2026 pukul 14.00 WIB. ')
  expect(textIn('ms', [due])).toContain(' pada 21 Disember 2026, 15:00 waktu Malaysia. Bayaran')
})

test.each(entries)('an amount in a text has the separators of the language: %s', (_, text) => {
  const numbers = (one: string): string[] => [...(one.match(/\d[\d.,]*[.,]\d+/g) ?? [])]
  const swapped = (one: string) => one.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'))
  const said = numbers(text.en)
  expect(numbers(text.ms)).toEqual(said)
  const times = /pukul \d\d\.\d\d/g
  expect(numbers(text.id.replace(times, ''))).toEqual(said.map(swapped))
})

test('the day of the limits ends at the same moment in every language', () => {
  expect(midnight).toEqual({ en: 'midnight in Jakarta', id: '00.00 WIB', ms: '01:00 waktu Malaysia' })
  const ofRinggit = { en: 'in Kuala Lumpur for ringgit', id: '23.00 WIB', ms: '00:00 waktu Malaysia' }
  expect(midnightOfRinggit).toEqual(ofRinggit)
})

test.each(entries)('a text names the end of the day in the zone of its language, and no other time: %s', (_, text) => {
  const ends = (language: Language) => text[language].split(midnight[language]).length - 1
  const clock = /\b\d\d[.:]\d\d\b|\bW(?:IB|ITA|IT)\b|waktu Malaysia|pukul/
  for (const language of languages) {
    expect([language, ends(language)]).toEqual([language, ends('en')])
    const ofRinggit = midnightOfRinggit[language]
    const rest = [`pukul ${midnight[language]}`, midnight[language], `pukul ${ofRinggit}`, ofRinggit].reduce(
      (left, end) => left.replaceAll(end, ''),
      text[language],
    )
    expect(rest).not.toMatch(clock)
  }
})

test('a time is never after the one it stands for, and has a form however late it is', () => {
  for (const language of languages) {
    const at = Date.parse('2026-03-01T16:59:59.999Z')
    expect(timeText(at, language, { to: 'second' })).toMatch(/[.:]59[.:]59 /)
    expect(timeText(1e30, language)).toMatch(/^13 September 275760\b/)
  }
  expect(timeText(Date.parse('2026-03-01T16:59:59Z'), 'id')).toBe('1 Maret 2026 pukul 23.59 WIB')
  expect(timeText(Date.parse('2026-03-01T16:59:59Z'), 'ms')).toBe('2 Mac 2026, 00:59 waktu Malaysia')
})

test.each([
  ['ID', 'en', '1 March 2026, 23:59 WIB'],
  ['ID', 'ms', '1 Mac 2026, 23:59 WIB'],
  ['MY', 'en', '2 March 2026, 00:59 MYT'],
  ['MY', 'id', '2 Maret 2026 pukul 00.59 waktu Malaysia'],
  ['SG', 'en', '1 March 2026, 16:59 UTC'],
  [null, 'id', '1 Maret 2026 pukul 23.59 WIB'],
] as const)(
  'a user in %s reads a time in %s in the zone of the country, or else of the language',
  (country, language, text) => {
    expect(timeText(Date.parse('2026-03-01T16:59:59Z'), language, { zone: zoneOf(country, language) })).toBe(text)
  },
)

test.each([
  ['ID', '2026-03-01', '2026-02-28T17:00:00.000Z'],
  ['MY', '2026-03-01', '2026-02-28T16:00:00.000Z'],
  ['SG', '2026-03-01', '2026-03-01T00:00:00.000Z'],
])('a day of a user in %s begins at midnight there, and has that date until it ends', (country, date, start) => {
  const zone = zoneOf(country, 'en')
  const startMs = dateStartMs(zone, date)
  expect(new Date(startMs).toISOString()).toBe(start)
  const dates = [-1, 0, 86_399_999, 86_400_000].map((ms) => dateIn(zone, startMs + ms))
  expect(dates).toEqual(['2026-02-28', date, date, '2026-03-02'])
})

test('a time in no form is shown as it is', () => {
  for (const language of languages)
    expect(textIn(language, [{ code: 'paused_since', since: 'noon' }])).toEndWith(' noon)')
})

test('a value with a brace or a dollar sign is shown as it is', () => {
  const odd = { code: 'field_unknown', field: '{field}$&' } as const
  expect(textIn('en', [odd])).toBe('{field}$& is not a known field')
})

test('texts of a service are known by code and parameters, and their English goes with them', () => {
  const sent = [{ code: 'payment.reason.refunded_after_credit' }, { code: 'payment.owed', ausd: '5' }]
  expect(sent.every(isKnown)).toBe(true)
  for (const odd of [
    { code: 'payment.owed' },
    { code: 'payment.of_tomorrow' },
    { code: 'toString' },
    { code: 'payment.owed', ausd: '1.5' },
    { code: 'payment.owed', ausd: '' },
    { code: 'due.in_time', dueAt: 'tomorrow' },
  ])
    expect(isKnown(odd)).toBe(false)
  expect(sentenceOf([{ code: 'payment.owed', ausd: '5' }]).sentence).toStartWith('You owe 0.000005 AUSD')
})

describe('nothing is translated that no user can get:', () => {
  const root = join(import.meta.dir, '../..')
  const isText = (path: string) =>
    /^shared\/language\/(?!catalogue|time|language)|^shared\/(declared-)?refusals/.test(path)
  const sources = [...new Glob('{services,shared}/**/*.ts').scanSync(root)]
    .filter((path) => !/\.(test|suite)\.ts$|test-support/.test(path) && !isText(path))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n')
  const isNamed = (word: string) => new RegExp(`'${word}'|\\b${word}:`).test(sources)
  /** Sources compose codes such as `payment.${state}`; these are the parts before the value. */
  const starts = new Set([...sources.matchAll(/`([a-z_]+(?:\.[a-z_]+)*\.)\$\{/g)].map(([, start]) => start!))

  test('every refusal is one that a service returns', () => {
    expect(refusalCodes.filter((code) => !isNamed(code))).toEqual([])
  })

  test('every other text is one that a service shows', () => {
    const others = entries.map(([code]) => code).filter((code) => !(code in refusals))
    const unused = others.filter((code) => {
      const end = code.lastIndexOf('.') + 1
      return !sources.includes(`'${code}'`) && !(starts.has(code.slice(0, end)) && isNamed(code.slice(end)))
    })
    expect(unused).toEqual([])
  })
})
