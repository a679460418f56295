import { expect, test } from 'bun:test'
import { type Language, languages } from '#shared/client/client'
import { textIn } from '#shared/language/catalogue'
import { inLocalMoney, type ReferenceApp } from './app'
import { english } from './texts/english'
import { indonesian } from './texts/indonesian'
import { malay } from './texts/malay'

const texts = { en: english, id: indonesian, ms: malay }
const rate = { pair: 'USD/IDR', rate: '16250' } as const
const said = (language: Language, text: string, more: object = { rate }) =>
  inLocalMoney({ language, t: texts[language], ...more } as ReferenceApp, text).replaceAll('\u00a0', ' ')

test.each([
  ['en', 'You owe about Rp 1,929,851 (118.77 AUSD) for this reversed payment.'],
  ['id', 'Pembayaran ini dibatalkan, jadi ada sekitar Rp 1.929.851 (118,77 AUSD) yang perlu Anda bayar.'],
  ['ms', 'Anda perlu membayar kira-kira Rp 1,929,851 (118.77 AUSD) untuk bayaran yang ditarik balik ini.'],
] as const)('a sentence of the service in %s states a debt in local money first', (language, sentence) => {
  const owed = textIn(language, [{ code: 'payment.owed', ausd: '118760012' }])
  expect(said(language, owed)).toStartWith(sentence)
})

test('a sentence of the service stays as it is without a rate, and without an amount', () => {
  for (const language of languages) {
    const texts = [{ code: 'payment.owed', ausd: '118760012' }, { code: 'payment.refunded' }] as const
    const [owed, refunded] = texts.map((text) => textIn(language, [text]))
    expect(said(language, owed!, {})).toBe(owed!)
    expect(said(language, refunded!)).toBe(refunded!)
  }
})
