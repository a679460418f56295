import { type Account, currencyOf } from '../account'
import type { JsonObject } from '../json'
import { minorFromMajor } from '../money'
import { Refusal } from './control'

export function amountMinorOf(body: JsonObject, account: Account, otherwiseMinor: bigint): bigint {
  const { amount } = body
  if (amount === undefined || amount === null) return otherwiseMinor
  const minor = typeof amount === 'number' ? minorFromMajor(amount, currencyOf[account]) : null
  if (minor === null || minor === 0n) {
    throw new Refusal(400, 'amount must be a positive number in major units of the currency')
  }
  return minor
}
