import { toFiatFloor } from '#shared/money/conversion'
import { countries } from '#shared/money/countries'
import { money } from '#shared/money/money'
import type { RefusalCode } from '#shared/refusals'
import type { CashoutRequest } from './cashout'
import type { Channel } from './provider'

/** More than any bank transfer, and still exact as the provider's JSON number. */
const payoutMaxMinor = 999_999_999_999_999n

/** The rupiah that a quote makes of an amount of AUSD, or why it cannot. Rounded down. */
export function priceFloor(
  ausdMicro: bigint,
  quote: { pair: string; rate: string },
): { fiatMinor: bigint } | { refused: RefusalCode } {
  const country = countries.find(({ pair }) => pair === quote.pair)
  if (!country?.cashoutMinMinor) return { refused: 'quote_not_idr' }
  const rate = { minorPerUsd: BigInt(quote.rate), currency: country.currency }
  const fiatMinor = toFiatFloor(money(ausdMicro, 'AUSD'), rate).minor
  return fiatMinor < country.cashoutMinMinor ? { refused: 'payout_below_minimum' } : { fiatMinor }
}

/** How strictly account numbers are checked; the provider's magic test numbers have 6 digits. */
export type AccountLengths = 'lenient' | 'strict'

/** The first rule of the bank that a payout breaks. */
export function checkBank(
  bank: CashoutRequest['bank'],
  fiatMinor: bigint,
  channel: Channel | undefined,
  lengths: AccountLengths,
): RefusalCode | undefined {
  if (!channel) return 'bank_unknown'
  if (fiatMinor < channel.minMinor) return 'payout_below_bank_minimum'
  if (fiatMinor > channel.maxMinor || fiatMinor > payoutMaxMinor) return 'payout_above_maximum'
  if (fiatMinor % channel.incrementMinor !== 0n) return 'payout_not_in_increment'
  const [min, max] = channel.accountDigits
  const { length } = bank.accountNumber
  return lengths === 'strict' && (length < min || length > max) ? 'bank_account_format' : undefined
}
