import { Type } from 'typebox'
import { countryBy } from '#shared/money/countries'
import { decimals, type Fiat } from '#shared/money/money'
import { ProviderNumber } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import { ProviderUnknown } from '#shared/provider/problem'

/** Response with a balance, which may have more decimals than its currency. */
const Balance = Type.Object({ balance: ProviderNumber })

/** Reads the balance available for payouts, in the smallest unit. Throws without the key permission *Balance Read*. */
export async function readBalance(
  client: ProviderClient,
  { at, deadlineMs }: { at?: Date; deadlineMs?: number } = {},
): Promise<bigint> {
  const { currency } = countryBy('account', client.account)
  const query = new URLSearchParams({
    account_type: 'CASH',
    currency,
    ...(at && { at_timestamp: at.toISOString() }),
  })
  const answer = await client.get(`/balance?${query}`, {
    schema: Balance,
    ...(deadlineMs !== undefined && { deadlineMs }),
  })
  if ('refused' in answer) {
    const { refused: refusal } = answer
    const text = `provider refused to return the balance: ${refusal.status} ${refusal.code}`
    throw new ProviderUnknown(text, { refusal })
  }
  const minor = floorMinor(answer.ok.balance.decimal, currency)
  if (minor === undefined) throw new ProviderUnknown('provider returned no readable balance')
  return minor
}

/** Rounds down to the smallest unit. */
export function floorMinor(decimal: string, currency: Fiat): bigint | undefined {
  const [, minus, whole, fraction = ''] = /^(-?)([0-9]{1,18})(?:\.([0-9]{1,18}))?$/.exec(decimal) ?? []
  if (whole === undefined) return undefined
  const places = decimals[currency]
  const minor = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
  if (!minus) return minor
  return /[1-9]/.test(fraction.slice(places)) ? -minor - 1n : -minor
}
