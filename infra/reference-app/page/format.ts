import type { PostQuote } from '#shared/api/quotes'
import type { RouteAnswer } from '#shared/api/route'
import { type Language, languages, locales } from '#shared/language/language'
import { feeCeil, quotedFee } from '#shared/money/fee'
import { type Currency, decimals, money } from '#shared/money/money'
import { fiatOf } from '#shared/money/pair'
import { type Rate, toAusdCeil, toAusdFloor, toFiatCeil, toFiatFloor } from '#shared/money/rate'
import { decimalText, groupDigits, separators, signs } from '#shared/money/text'
import { feeChannels, quotedTopupFees, topupFeeFloor } from '#shared/money/topup-fee'

const decimalsShown: Readonly<Record<Currency, number>> = { AUSD: 2, IDR: 0, MYR: 2 }

/** Returns the stored language, or the first that the browser prefers. */
export function languageOf(stored: string | null, preferred: readonly string[]): Language {
  const wanted = [stored ?? '', ...preferred].map((tag) => tag.slice(0, 2).toLowerCase())
  return wanted.flatMap((tag) => languages.find((one) => one === tag) ?? [])[0] ?? 'en'
}

/** Writes an amount without its currency: `50,000`, `1.50`. */
export const numberText = (minor: string, currency: Currency, language: Language): string =>
  decimalText(minor, decimals[currency], language, decimalsShown[currency])

const microPerCent = 10_000n

/** Rounds AUSD (10⁻⁶) to the two decimals that are read beside an amount in local money. */
export function inCents(micro: string, rounding: 'down' | 'up'): string {
  const more = rounding === 'up' ? microPerCent - 1n : 0n
  return String(((BigInt(micro) + more) / microPerCent) * microPerCent)
}

/** Names that people use, which are the same in all languages of the page. */
export const currencyNames: Readonly<Record<Currency, string>> = { AUSD: 'AUSD', IDR: 'rupiah', MYR: 'ringgit' }

/** Formats an amount: `Rp 50,000`, `1.50 AUSD`. A rate, which is an amount per dollar, may have decimals of its own. */
export function moneyText(minor: string, currency: Currency, language: Language): string {
  const number = numberText(minor, currency, language)
  const sign = signs[currency]
  return sign ? `${sign}\u00a0${number}` : `${number}\u00a0${currency}`
}

export const percentText = (bps: number | string, language: Language): string =>
  `${decimalText(String(bps), 2, language, 0)}%`

/**
 * Returns the amount in the smallest unit. Undefined unless the text reads in exactly one way: `1.500` is 1500 in
 * Indonesian and 1.5 in English; `1.50` is no Indonesian number.
 */
export function parseAmount(text: string, currency: Currency, language: Language): string | undefined {
  const places = decimals[currency]
  const [group, decimal] = separators[language]
  const number = new RegExp(
    `^(\\d+|\\d{1,3}(?:\\${group}\\d{3})+)${places > 0 ? `(?:\\${decimal}(\\d{1,${places}}))?` : ''}$`,
  ).exec(text.trim())
  if (!number) return undefined
  const [, whole = '', fraction = ''] = number
  return `${whole.replaceAll(group, '')}${fraction.padEnd(places, '0')}`.replace(/^0+(?=\d)/, '')
}

/**
 * Groups the digits of an amount while it is typed. A text in which the user wrote a separator, or which was pasted, stays
 * as it is, because its meaning may be another. `last` is the text before.
 */
export function groupedText(last: string, text: string, currency: Currency, language: Language): string {
  const [group, decimal] = separators[language]
  const isOurs = last === '' || grouped(last, group, decimal) === last
  const isOneMore = Math.abs(text.length - last.length) === 1
  const [whole = ''] = text.split(decimal)
  const isPlain = decimals[currency] > 0 || !text.includes(decimal)
  if (!isOurs || !isOneMore || !isPlain || text.endsWith(group) || !/^\d+$/.test(whole.replaceAll(group, '')))
    return text
  return grouped(text, group, decimal)
}

function grouped(text: string, group: string, decimal: string): string {
  const [whole = '', ...fraction] = text.split(decimal)
  return [groupDigits(whole.replaceAll(group, ''), group), ...fraction].join(decimal)
}

export const amountExample = (currency: Currency, language: Language): string =>
  numberText({ AUSD: '2500000', IDR: '500000', MYR: '5000' }[currency], currency, language)

/** Returns the unix ms of a time. It takes ISO 8601 or unix seconds, because the interface has both. */
export const millisecondsOf = (time: string): number => (/^\d+$/.test(time) ? Number(time) * 1_000 : Date.parse(time))

export function durationText(seconds: number, language: Language): string {
  const sizes = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, size] = sizes.find(([, one]) => seconds >= one && seconds % one === 0) ?? (['second', 1] as const)
  const value = seconds / size
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(locales[language], style).format(value)
}

/** A pair with its rate. */
export type Priced = Pick<RouteAnswer<typeof PostQuote>, 'pair' | 'rate'>

const rateOf = ({ pair, rate }: Priced): Rate => ({
  minorPerUsd: BigInt(rate),
  currency: fiatOf(pair),
})

/** Returns the AUSD (in 10⁻⁶) for an amount in local currency. The gateway's response decides. */
export function ausdFor(minor: string, quote: Priced, rounding: 'down' | 'up' = 'down'): string {
  const convert = rounding === 'up' ? toAusdCeil : toAusdFloor
  return String(convert(money(BigInt(minor), fiatOf(quote.pair)), rateOf(quote)).minor)
}

export function fiatFor(micro: string, quote: Priced, rounding: 'down' | 'up'): string {
  const convert = rounding === 'up' ? toFiatCeil : toFiatFloor
  return String(convert(money(BigInt(micro), 'AUSD'), rateOf(quote)).minor)
}

/** Rate of a cash-out with its fee. */
export type PayoutPrice = Priced & Pick<RouteAnswer<typeof PostQuote>, 'cashoutFee' | 'reason'>

/** Returns the fee and the payout of a cash-out, in rupiah. The gateway's response decides. */
export function cashoutFor(
  micro: string,
  quote: Omit<PayoutPrice, 'reason'>,
): { readonly fee: string; readonly fiat: string } {
  const worthMinor = BigInt(fiatFor(micro, quote, 'down'))
  const feeMinor = feeCeil(worthMinor, quotedFee(quote.cashoutFee))
  return { fee: `${feeMinor}`, fiat: `${worthMinor > feeMinor ? worthMinor - feeMinor : 0n}` }
}

export type TopupOffer = {
  /** Kind of channel, `other` for all those without a fee, or `any` if no channel of the checkout has one. */
  readonly channel: (typeof feeChannels)[number] | 'other' | 'any'
  readonly fee: string
  /** What is left after the fee, in local currency, and the AUSD for it. */
  readonly rest: string
  readonly ausd: string
}

/** Returns the fee and the AUSD of a top-up for each channel that its checkout offers. The channel that is used decides. */
export function topupFor(
  minor: string,
  quote: Priced & Pick<RouteAnswer<typeof PostQuote>, 'topupFees'>,
  method: string,
): TopupOffer[] {
  const fees = quotedTopupFees(quote.topupFees)
  const offered = feeChannels.filter((channel) => method !== 'card' || channel === 'card')
  const charged = offered.flatMap((channel) => {
    const fee = topupFeeFloor(BigInt(minor), channel, fees)
    const rest = `${BigInt(minor) - fee}`
    return fee === 0n ? [] : [{ channel, fee: `${fee}`, rest, ausd: ausdFor(rest, quote) }]
  })
  const channel = charged.length === 0 ? 'any' : 'other'
  const free = { channel, fee: '0', rest: minor, ausd: ausdFor(minor, quote) } as const
  return charged.length < offered.length ? [...charged, free] : charged
}

/** Writes an address in groups of four, as people compare it: `0x1234 5678 …`. */
export const groupsOf = (address: string): string =>
  address
    .replace(/^0x/, '')
    .match(/.{1,4}/g)!
    .join(' ')
    .replace(/^/, '0x')

type Bank = { readonly code: string; readonly name: string }

/** Returns the name of a bank that users know, such as BCA: its code without the country. */
export const shortNameOf = ({ code }: Bank): string => code.replace(/^ID_/, '').replaceAll('_', ' ')

/** Finds a bank by its name or short name, or by a part of them that no other bank has. */
export function bankOf<B extends Bank>(banks: readonly B[], text: string): B | undefined {
  const wanted = text.trim().toLowerCase()
  const namesOf = (bank: B) => [bank.name, shortNameOf(bank)].map((name) => name.toLowerCase())
  const named = banks.filter((bank) => namesOf(bank).includes(wanted))
  const found = named[0] ? named : banks.filter((bank) => namesOf(bank).some((name) => name.includes(wanted)))
  return found.length === 1 ? found[0] : undefined
}
