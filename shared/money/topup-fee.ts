import type { Field } from '#platform/config'
import { type ChannelKind, channelKinds } from '#shared/messages/activity'
import { column, countryBy } from '#shared/money/countries'
import { bpsMax, type Fee, feeOfText, feeText, isFree, type QuotedFee, quotedFee } from '#shared/money/fee'
import type { Fiat } from '#shared/money/money'
import { fiatOf, type Pair, pairs } from '#shared/money/pair'

/** Channels that may have a fee. A channel that the service does not know has none. */
export const feeChannels = channelKinds.filter((kind) => kind !== 'unknown')
type FeeChannel = (typeof feeChannels)[number]

/** Kinds of channels at the checkouts of a country. A fee of any other kind would be shown to its payers, but never charged. */
export const channelsOf: Readonly<Record<Fiat, readonly FeeChannel[]>> = {
  IDR: feeChannels,
  MYR: ['bank', 'card', 'ewallet'],
}

/** Fees of the top-ups of a country, at most one for each kind of channel, in the order of the kinds; none of them is free. */
export type TopupFees = readonly (Fee & { readonly channel: FeeChannel })[]

export const noTopupFees: TopupFees = []

/** Fees of top-ups as quotes have them. */
export type QuotedTopupFees = readonly (QuotedFee & { readonly channel: FeeChannel })[]

/** Reads the fees of a quote, which has none if they are omitted. */
export const quotedTopupFees = (fees: QuotedTopupFees | undefined): TopupFees =>
  (fees ?? []).map((fee) => ({ channel: fee.channel, ...quotedFee(fee) }))

/** Returns the fees as messages have them. */
export const wireTopupFees = (fees: TopupFees) =>
  fees.map(({ channel, fixedMinor, bps }) => ({ channel, fixed: `${fixedMinor}`, bps: Number(bps) }))

/**
 * Returns the fee of a top-up in smallest units, by the channel that its payer used. The part in basis points is rounded down, so
 * that no payer is charged more than the fees promise. A tenth of the money is left at least, whatever the fees say.
 */
export function topupFeeFloor(amountMinor: bigint, channel: ChannelKind, fees: TopupFees): bigint {
  const fee = fees.find((one) => one.channel === channel)
  if (!fee) return 0n
  const feeMinor = fee.fixedMinor + (amountMinor * fee.bps) / 10_000n
  const mostMinor = (amountMinor * 9n) / 10n
  // guard: a fee leaves a part of every top-up
  if (feeMinor > mostMinor) return mostMinor
  return feeMinor
}

/** Returns the fees of a country as they are signed and stored, such as `qr=0+70,card=2220+322`; empty without fees. */
export const topupFeesText = (fees: TopupFees): string =>
  fees.map(({ channel, ...fee }) => `${channel}=${feeText(fee)}`).join()

/** Reads fees that `topupFeesText` has written. Throws for any other text. */
export const topupFeesFrom = (text: string): TopupFees => inOrder(text === '' ? [] : text.split(',').map(feeOfChannel))

/**
 * Returns the fees as entries of the metadata of a checkout, such as `fee_qr: '0+70'`: the provider refuses a value of more than 80
 * characters, which the fees of all channels have together.
 */
export const topupFeesMetadata = (fees: TopupFees): TopupFeesMetadata =>
  Object.fromEntries(fees.map(({ channel, ...fee }) => [`fee_${channel}`, feeText(fee)]))
export type TopupFeesMetadata = { readonly [entry in `fee_${FeeChannel}`]?: string }

/** Reads fees that `topupFeesMetadata` has written. `wordOf` returns an entry, or an empty text if there is none. */
export const topupFeesOfMetadata = (wordOf: (name: string) => string): TopupFees =>
  feeChannels.flatMap((channel) => {
    const fee = wordOf(`fee_${channel}`)
    return fee === '' ? [] : [{ channel, ...feeOfText(fee) }]
  })

function feeOfChannel(text: string): TopupFees[number] {
  const [name, fee = '', ...more] = text.split('=')
  const channel = feeChannels.find((known) => known === name)
  if (!channel || more.length > 0)
    throw new Error(`names a channel other than ${feeChannels.join(', ')}, or more than one`)
  return { channel, ...feeOfText(fee) }
}

function inOrder(fees: TopupFees): TopupFees {
  if (new Set(fees.map(({ channel }) => channel)).size < fees.length) throw new Error('must not name a channel twice')
  return feeChannels.flatMap((kind) => fees.filter((fee) => fee.channel === kind && !isFree(fee)))
}

/** Returns the highest fixed part: four fifths of the least top-up, which with the highest part in basis points leaves a tenth. */
const fixedMaxOf = (currency: Fiat): bigint => (countryBy('currency', currency).topupMinMinor * 4n) / 5n

const currencies = column('currency')
const rangeText = currencies.map((currency) => `${currency} ${fixedMaxOf(currency)}+${bpsMax}`).join(', ')

/** Reads fees such as `IDR:card=2220+322,MYR:bank=120+0`, or `none`. */
export const topupFeesField = ({ about }: { about: string }): Field<ReadonlyMap<Pair, TopupFees>> => ({
  type: `currency:channel=fixed+basis points list | none, at most ${rangeText}`,
  about,
  secret: false,
  fallback: 'none',
  parse: (raw) => {
    const items = raw === 'none' ? [] : raw.split(',').map((item) => read(item.trim()))
    const ofPair = (pair: Pair) => items.filter(({ currency }) => currency === fiatOf(pair)).map(({ fee }) => fee)
    return new Map(pairs.map((pair) => [pair, inOrder(ofPair(pair))] as const))
  },
})

function read(item: string): { currency: Fiat; fee: TopupFees[number] } {
  const [name, rest = '', ...more] = item.split(':')
  const currency = currencies.find((known) => known === name)
  if (!currency || more.length > 0)
    throw new Error(`must name ${currencies.join(' or ')} and a channel, e.g. IDR:card=2220+322`)
  const fee = feeOfChannel(rest)
  const offered = channelsOf[currency]
  if (!offered.includes(fee.channel))
    throw new Error(`names ${fee.channel} for ${currency}, whose channels are ${offered.join(', ')} (DuitNow is bank)`)
  if (fee.fixedMinor > fixedMaxOf(currency) || fee.bps > bpsMax) throw new Error(`must be at most ${rangeText}`)
  return { currency, fee }
}
