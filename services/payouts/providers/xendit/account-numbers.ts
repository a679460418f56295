/** Form of a bank's account numbers. */
type AccountNumbers = {
  readonly digits: readonly [min: number, max: number]
  /** Numbers of this length are stored at the bank with a leading zero. */
  readonly zeroBefore?: number
}

/**
 * Lengths of account numbers per bank, virtual accounts included, from the provider's guideline for
 * the top banks (https://docsv2.xendit.co/docs/payouts-indonesia, "Account length limit"). It lists
 * no other banks, and requires the leading zero for Bank Rakyat Indonesia.
 */
const banks: ReadonlyMap<string, AccountNumbers> = new Map([
  ['ID_BCA', { digits: [10, 10] }],
  ['ID_BRI', { digits: [13, 17], zeroBefore: 14 }],
  ['ID_BNI', { digits: [7, 11] }],
  ['ID_MANDIRI', { digits: [12, 17] }],
  ['ID_PERMATA', { digits: [7, 16] }],
])

/**
 * Returns the lengths of a bank's account numbers; our general limits if the guideline has none.
 */
export const digitsOf = (channelCode: string): readonly [min: number, max: number] =>
  banks.get(channelCode)?.digits ?? [6, 20]

/** Returns the account number as stored by the bank; always the same for a number. */
export const storedNumber = (channelCode: string, accountNumber: string): string =>
  accountNumber.length === banks.get(channelCode)?.zeroBefore ? `0${accountNumber}` : accountNumber
