import { type Account, currencyOf } from '../account'
import { minorFromMajor } from '../amount'
import type { JsonObject } from '../route'
import { Refusal } from './control'

/** The `amount` of a control: a JSON number in major units, as on the provider's wire. */
export function amountMinorOf(body: JsonObject, account: Account, otherwiseMinor: bigint): bigint {
  const { amount } = body
  if (amount === undefined || amount === null) return otherwiseMinor
  const minor = typeof amount === 'number' ? minorFromMajor(amount, currencyOf[account]) : null
  if (minor === null || minor === 0n) {
    throw new Refusal(400, 'amount must be a positive number in major units of the currency')
  }
  return minor
}
