import { expect, test } from 'bun:test'
import type { ReferenceApp } from '../app'
import { english } from '../texts/english'
import { autoRepayTexts } from './auto-repay'

const gasLimits = { setAutoRepay: '1', approve: '1' }
const later = String(Math.floor(Date.now() / 1_000) + 3_600)

/** Returns what the page says about a permission to take 3 AUSD from a wallet that has 2, while 2 are owed. */
function textsWith(autoRepay: object | null, more: object = {}, others: object = {}) {
  const me = {
    user: { country: 'MY' },
    drawn: '2000000',
    balance: { ausd: '2000000' },
    collateral: { value: '0' },
    autoRepay: autoRepay && { maxPerCycle: '3000000', source: 'wallet', taken: '0', startsAt: later, ...autoRepay },
    ...more,
  }
  const config = { chain: { gasLimits } }
  const app = { language: 'en', t: english, me, config, ...others } as unknown as ReferenceApp
  const texts = autoRepayTexts(app)
  return texts && [texts.line, texts.warning].map((text) => text?.replaceAll('\u00a0', ' '))
}

test('the page says when and from where a debt will be repaid automatically', () => {
  const [line, warning] = textsWith({})!
  expect(line).toMatch(
    /^This loan will be repaid automatically from your wallet, from .+ MYT on, at most 3\.00 AUSD\.$/,
  )
  expect(warning).toBeUndefined()
  expect(textsWith({ startsAt: '1' })).toEqual([
    'This loan is now being repaid automatically from your wallet, at most 3.00 AUSD.',
    undefined,
  ])
  expect(textsWith({ startsAt: null }, { drawn: '0' })).toEqual([
    'Your next loan will be repaid automatically from your wallet, at most 3.00 AUSD.',
    undefined,
  ])
})

test('the page says beforehand what an automatic repayment will lack', () => {
  expect(textsWith({ source: 'collateral' })?.[1]).toBe(
    'Your collateral is 0.00 AUSD, but 2.00 AUSD will be needed. Top up in time, or repay another way.',
  )
  expect(textsWith({}, {}, { allowance: '1999999' })?.[1]).toContain('may no longer take 2.00 AUSD from your wallet')
  expect(textsWith({}, { drawn: '2500000' })?.[1]).toStartWith('Your wallet holds 2.00 AUSD, but 2.50 AUSD')
  expect(textsWith({ maxPerCycle: '1000000' })?.[1]).toEndWith('Repay the rest yourself: 1.00 AUSD.')
  expect(textsWith({ taken: '3000000' })?.[1]).toContain('You still owe 2.00 AUSD')
})

test('the page says nothing about automatic repayments that are off, or that the credit line does not have', () => {
  expect(textsWith(null)).toBeUndefined()
  expect(textsWith({}, {}, { config: { chain: { gasLimits: {} } } })).toBeUndefined()
})
