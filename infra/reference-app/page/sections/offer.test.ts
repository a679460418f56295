import { expect, test } from 'bun:test'
import type { ReferenceApp } from '../app'
import { english } from '../texts/english'
import { amountList } from './offer'

const topupFees = [{ pair: 'USD/IDR', channel: 'qr', fixed: '0', bps: 70 }] as const
const appWith = (quote: object) => ({ language: 'en', t: english, config: { quote } }) as ReferenceApp
const unpaid = { kind: 'topup', pair: 'USD/IDR', fiat: '100000', ausd: '6153846' } as const
const textsOf = (app: ReferenceApp, item: Parameters<typeof amountList>[1]) =>
  amountList(app, item).map((text) => text.replaceAll('\u00a0', ' '))

test('an unpaid top-up shows no AUSD where top-ups have fees, because its channel decides how much that will be', () => {
  const charging = appWith({ topupFees: [...topupFees] })
  expect(textsOf(charging, unpaid)).toEqual(['Rp 100,000'])
  expect(textsOf(charging, { ...unpaid, channel: 'qr', ausd: '6110769' })).toEqual(['Rp 100,000', '6.11 AUSD'])
  expect(textsOf(charging, { ...unpaid, pair: 'USD/MYR', fiat: '1000' })).toEqual(['RM 10.00', '6.15 AUSD'])
  expect(textsOf(charging, { ...unpaid, kind: 'settlement' })).toEqual(['Rp 100,000', '6.15 AUSD'])
  expect(textsOf(appWith({}), unpaid)).toEqual(['Rp 100,000', '6.15 AUSD'])
})

test('AUSD that was not exchanged is shown as what it is about worth, or alone while there is no rate', () => {
  const transfer = { kind: 'send', ausd: '2500009' } as const
  const signed = (more: object) => amountList({ ...appWith({}), ...more }, transfer, '−')
  const plain = (texts: string[]) => texts.map((text) => text.replaceAll('\u00a0', ' '))
  expect(plain(signed({ rate: { pair: 'USD/MYR', rate: '421' } }))).toEqual(['about −RM 10.52', '2.50 AUSD'])
  expect(plain(signed({}))).toEqual(['−2.500009 AUSD'])
})
