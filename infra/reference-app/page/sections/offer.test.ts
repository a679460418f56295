import { expect, test } from 'bun:test'
import type { ReferenceApp } from '../app'
import { amountList } from './offer'

const topupFees = [{ pair: 'USD/IDR', channel: 'qr', fixed: '0', bps: 70 }] as const
const appWith = (quote: object) => ({ language: 'en', config: { quote } }) as ReferenceApp
const unpaid = { kind: 'topup', pair: 'USD/IDR', fiat: '100000', ausd: '6153846' } as const
const textsOf = (app: ReferenceApp, item: Parameters<typeof amountList>[1]) =>
  amountList(app, item).map((text) => text.replaceAll('\u00a0', ' '))

test('an unpaid top-up shows no AUSD where top-ups have fees, because its channel decides how much that will be', () => {
  const charging = appWith({ topupFees: [...topupFees] })
  expect(textsOf(charging, unpaid)).toEqual(['Rp 100,000'])
  expect(textsOf(charging, { ...unpaid, channel: 'qr', ausd: '6110769' })).toEqual(['Rp 100,000', '6.110769 AUSD'])
  expect(textsOf(charging, { ...unpaid, pair: 'USD/MYR', fiat: '1000' })).toEqual(['RM 10.00', '6.153846 AUSD'])
  expect(textsOf(charging, { ...unpaid, kind: 'settlement' })).toEqual(['Rp 100,000', '6.153846 AUSD'])
  expect(textsOf(appWith({}), unpaid)).toEqual(['Rp 100,000', '6.153846 AUSD'])
})
