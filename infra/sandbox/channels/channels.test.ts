import { expect, test } from 'bun:test'
import type { ChannelKind } from '#shared/messages/activity'
import { column, countryBy } from '#shared/money/countries'
import { channelsOf as feeChannelsOf } from '#shared/money/topup-fee'
import { channelKind, knownChannels } from '../../../services/payments/providers/xendit/channel'
import type { ChannelType } from './channel'
import { channelsOf } from './channels'

const all = Object.values(channelsOf).flat()

const kindsOf: Readonly<Record<ChannelType, readonly ChannelKind[]>> = {
  'BANK TRANSFER': ['bank'],
  'ONLINE BANKING': ['bank', 'direct_debit'],
  'ONLINE BANKING FOR COMPANIES': ['bank'],
  'QR CODE': ['qr'],
  CARDS: ['card'],
  EWALLET: ['ewallet'],
  'OVER THE COUNTER': ['counter'],
  PAYLATER: ['paylater'],
}

test('payments knows the kind of every channel in a checkout of the sandbox', () => {
  const wrong = all.filter(({ code, type }) => !kindsOf[type].includes(channelKind(code)))
  expect(wrong).toEqual([])
})

test('fees of top-ups may be set for exactly the kinds of channels that the checkouts of a country have', () => {
  for (const account of column('account')) {
    const kinds = new Set(channelsOf[account].map(({ code }) => channelKind(code)))
    expect<string[]>([...kinds].sort()).toEqual(feeChannelsOf[countryBy('account', account).currency].toSorted())
  }
})

/** The provider documents no limits for the first, no checkout for the second, and no such service for the rest. */
const withoutCheckout = [
  'INA_VIRTUAL_ACCOUNT',
  'GOPAY_RECURRING',
  'BNP_FPX',
  'BOC_FPX_BUSINESS',
  'BSN_FPX_BUSINESS',
  'CITIBANK_FPX',
  'DEUTSCHE_FPX',
  'MAYB2U_FPX_BUSINESS',
]

test('the checkouts of the sandbox have every channel whose kind payments knows', () => {
  const codes = new Set(all.map(({ code }) => code))
  expect(knownChannels.filter((code) => !codes.has(code)).sort()).toEqual(withoutCheckout.sort())
})
