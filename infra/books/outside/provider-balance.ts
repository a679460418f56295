import { Type } from 'typebox'
import { type AccountName, providerOf } from '#shared/ledger/chart'
import { type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import { decimals, type Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { ProviderNumber } from '#shared/provider/amount'
import type { ProviderClient } from '#shared/provider/client'
import { ProviderUnknown } from '#shared/provider/problem'

const Balance = Type.Object({ balance: ProviderNumber })

/** The account of the books, and the currency in which it is kept. */
export const accountOf = (account: ProviderAccount): { place: AccountName; asset: Fiat } => ({
  place: providerOf[account],
  asset: countryBy('account', account).currency,
})

/**
 * What an account at the provider holds that it may pay out, in the smallest unit; now, or at a moment.
 * Throws unless the provider says so.
 */
export async function readCash(client: ProviderClient, at?: Date): Promise<bigint> {
  const { asset } = accountOf(client.account)
  const query = new URLSearchParams({
    ...{ account_type: 'CASH', currency: asset },
    ...(at && { at_timestamp: at.toISOString() }),
  })
  const answer = await client.get(`/balance?${query}`, { schema: Balance })
  if ('refused' in answer) {
    const { refused: refusal } = answer
    const text = `the balance was refused: ${refusal.status} ${refusal.code}`
    throw new ProviderUnknown(text, { refusal })
  }
  const minor = floorMinor(answer.ok.balance.decimal, asset)
  if (minor === undefined) throw new ProviderUnknown('the provider did not say what the balance is')
  return minor
}

/** Rounded down: what is less than the smallest unit is not there. Undefined for another form. */
export function floorMinor(decimal: string, currency: Fiat): bigint | undefined {
  const [, minus, whole, fraction = ''] =
    /^(-?)([0-9]{1,18})(?:\.([0-9]{1,18}))?$/.exec(decimal) ?? []
  if (whole === undefined) return undefined
  const places = decimals[currency]
  const minor = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
  if (!minus) return minor
  return /[1-9]/.test(fraction.slice(places)) ? -minor - 1n : -minor
}

/** What was there before the books began: it was put in by whoever runs this. */
export function openingOf(account: ProviderAccount, minor: bigint): Position {
  const { place, asset } = accountOf(account)
  return position([
    { account: place, asset, amount: minor },
    { account: 'capital', asset, amount: -minor },
  ])
}
