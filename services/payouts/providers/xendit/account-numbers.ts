type AccountNumbers = {
  readonly digits: readonly [min: number, max: number]
  /** Length of the account numbers that the bank stores with a leading zero. */
  readonly zeroBefore?: number
}

/**
 * Lengths of account numbers, from the provider's guideline for the top banks, virtual accounts included
 * (https://docsv2.xendit.co/docs/payouts-indonesia, "Account length limit").
 */
const banks: ReadonlyMap<string, AccountNumbers> = new Map([
  ['ID_BCA', { digits: [10, 10] }],
  ['ID_BRI', { digits: [13, 17], zeroBefore: 14 }],
  ['ID_BNI', { digits: [7, 11] }],
  ['ID_MANDIRI', { digits: [12, 17] }],
  ['ID_PERMATA', { digits: [7, 16] }],
])

export const digitsOf = (channelCode: string): readonly [min: number, max: number] =>
  banks.get(channelCode)?.digits ?? [6, 20]

/** Returns the number with the bank's leading zero. */
export const storedNumber = (channelCode: string, accountNumber: string): string =>
  accountNumber.length === banks.get(channelCode)?.zeroBefore ? `0${accountNumber}` : accountNumber
