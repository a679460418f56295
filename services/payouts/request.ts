import { createHash } from 'node:crypto'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { RequestOf } from '#shared/messages/topic'
import { toFiatFloor } from '#shared/money/conversion'
import { money } from '#shared/money/money'
import type { RefusalCode } from '#shared/refusals'
import type { Channel } from './payout-provider.ts'

export type CashoutRequest = RequestOf<typeof CashoutCreate>

/** One spelling: hex in lower case, numbers without leading zeros, the name without outer blanks. */
export function normalized(request: CashoutRequest): CashoutRequest {
  const { authorization, bank } = request
  const lower = <T extends string>(text: T) => text.toLowerCase()
  const whole = (digits: string) => BigInt(digits).toString()
  return {
    wallet: lower(request.wallet),
    quoteId: lower(request.quoteId),
    authorization: {
      from: lower(authorization.from),
      to: lower(authorization.to),
      value: whole(authorization.value),
      validAfter: whole(authorization.validAfter),
      validBefore: whole(authorization.validBefore),
      nonce: lower(authorization.nonce),
      signature: lower(authorization.signature),
    },
    bank: { ...bank, accountHolderName: bank.accountHolderName.trim() },
  }
}

/** Names wallet, purpose and body without telling them: the quote's taker. Of a normalized request. */
export function fingerprintOf({
  wallet,
  quoteId,
  authorization: a,
  bank: b,
}: CashoutRequest): string {
  const parts = [
    ...[wallet, quoteId, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, a.signature],
    ...[b.channelCode, b.accountNumber, b.accountHolderName],
  ]
  return `cashout:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

/** An authorization must outlive the way to the chain by this much. */
export const windowMinSeconds = 300n

/** The first rule the authorization breaks, in the order in which they are checked. */
export function checkAuthorization(
  { wallet, authorization }: CashoutRequest,
  known: { treasury: string; nowSeconds: bigint },
): RefusalCode | undefined {
  if (authorization.from !== wallet) return 'wallet_not_from'
  if (authorization.to !== known.treasury) return 'to_not_treasury'
  if (BigInt(authorization.value) === 0n) return 'value_zero'
  if (BigInt(authorization.validAfter) > known.nowSeconds) return 'valid_after_not_reached'
  if (BigInt(authorization.validBefore) < known.nowSeconds + windowMinSeconds)
    return 'valid_before_too_near'
  return undefined
}

/** Smallest payout, in whole rupiah: the interface promises it. */
export const payoutMinMinor = 10_000n

/** What a quote turns the authorization's value into, or why it cannot. Rounded down. */
export function priceFloor(
  ausdMicro: bigint,
  quote: { pair: string; rate: string },
): { fiatMinor: bigint } | { refused: RefusalCode } {
  if (quote.pair !== 'USD/IDR') return { refused: 'quote_not_idr' }
  const rate = { minorPerUsd: BigInt(quote.rate), currency: 'IDR' } as const
  const fiatMinor = toFiatFloor(money(ausdMicro, 'AUSD'), rate).minor
  return fiatMinor < payoutMinMinor ? { refused: 'payout_below_minimum' } : { fiatMinor }
}

/** More than any bank transfer, and still exact as the provider's JSON number. */
const payoutMaxMinor = 999_999_999_999_999n

/** How strictly account numbers are checked; the provider's magic test numbers are 6 digits. */
export type AccountLengths = 'lenient' | 'strict'

/** The first rule the bank breaks for this payout. */
export function checkBank(
  { bank }: CashoutRequest,
  fiatMinor: bigint,
  channel: Channel | undefined,
  lengths: AccountLengths,
): RefusalCode | undefined {
  if (!channel) return 'bank_unknown'
  if (fiatMinor < channel.minMinor) return 'payout_below_bank_minimum'
  if (fiatMinor > channel.maxMinor || fiatMinor > payoutMaxMinor) return 'payout_above_maximum'
  if (fiatMinor % channel.incrementMinor !== 0n) return 'payout_not_in_increment'
  if (lengths === 'strict' && !fitsBank(bank)) return 'bank_account_format'
  return undefined
}

/** Digits of an account number per bank, where the provider documents them. */
const accountDigits: ReadonlyMap<string, readonly [min: number, max: number]> = new Map([
  ['ID_BCA', [10, 10]],
  ['ID_BRI', [13, 17]],
  ['ID_BNI', [7, 11]],
  ['ID_MANDIRI', [12, 17]],
  ['ID_PERMATA', [7, 16]],
])

function fitsBank({ channelCode, accountNumber }: CashoutRequest['bank']): boolean {
  const [min, max] = accountDigits.get(channelCode) ?? [6, 20]
  return accountNumber.length >= min && accountNumber.length <= max
}
