/** What an account number of a bank looks like. */
type AccountNumbers = {
  readonly digits: readonly [min: number, max: number]
  /** Numbers of so many digits are stored at the bank with a zero in front. */
  readonly zeroBefore?: number
}

/**
 * Digits of account numbers per bank, virtual accounts included, from the provider's guideline for the
 * top banks: https://docsv2.xendit.co/docs/payouts-indonesia, "Account length limit". It names no
 * others, and asks for the zero of Bank Rakyat Indonesia itself.
 */
const banks: ReadonlyMap<string, AccountNumbers> = new Map([
  ['ID_BCA', { digits: [10, 10] }],
  ['ID_BRI', { digits: [13, 17], zeroBefore: 14 }],
  ['ID_BNI', { digits: [7, 11] }],
  ['ID_MANDIRI', { digits: [12, 17] }],
  ['ID_PERMATA', { digits: [7, 16] }],
])

/** Digits of an account number of this bank; of one that the guideline does not name, any we take. */
export const digitsOf = (channelCode: string): readonly [min: number, max: number] =>
  banks.get(channelCode)?.digits ?? [6, 20]

/** The account number as the bank stores it. The same number always becomes the same. */
export const storedNumber = (channelCode: string, accountNumber: string): string =>
  accountNumber.length === banks.get(channelCode)?.zeroBefore ? `0${accountNumber}` : accountNumber
