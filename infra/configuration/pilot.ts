/**
 * Values for the first days with real money, which bound what a defect or a thief can take. Sums are for about ten invited
 * wallets. A limit above these is a deviation that `ops doctor` names.
 */
export const pilotValues: ReadonlyMap<string, string> = new Map([
  // The operator fills in the wallets.
  ['PILOT_WALLETS', ''],
  ['TOPUP_ALL_DAY_MAX_USD', '500'],
  ['TOPUP_DAY_MAX_USD', '100'],
  ['TOPUP_OPEN_MAX_USD', '100'],
  ['TOPUP_OPEN_MAX', '3'],
  ['TOPUP_DAY_COUNT_MAX', '5'],
  ['CASHOUT_ALL_DAY_MAX_USD', '500'],
  ['CASHOUT_DAY_MAX_USD', '100'],
  // A key that is stolen can credit or drip no more than this, whatever the limits above say.
  ['CREDIT_MAX_AUSD', '100'],
  ['CREDIT_DAY_MAX_AUSD', '1000'],
  ['DRIP_DAY_MAX_WEI', '5000000000000000000'],
  // Holds take days with real money, so a refund in the last hour is found in time.
  ['HOLD_MARGIN_MS', '3600000'],
])

/** Hold of card payments in the contract, in seconds. Refunds and most disputes of cards come within a week. */
export const pilotHoldSeconds = 604_800

/** Value of a pilot as an amount. Throws if it has none. */
export function pilotMax(name: string): bigint {
  const value = pilotValues.get(name)
  if (!value) throw new Error(`${name} has no value for a pilot`)
  return BigInt(value)
}
