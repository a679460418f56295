/**
 * Fixed gas limits of what the relayer sends, one per function: Monad charges the limit, not the
 * gas used, so they are tight.
 *
 * Measured on anvil in the worst state of each function (`infra/contracts/gas.test.ts` repeats the
 * measurement): fresh account, fresh slots, cycle closing with an excess. Each cold slot counts
 * 6000 more and each cold account 7500 more, as on Monad (8100 and 10100, not 2100 and 2600,
 * https://docs.monad.xyz/developer-essentials/opcode-pricing), and about a tenth is added. No limit
 * depends on an account's history: relayed operations never walk its lots.
 */
export const gasLimits = {
  topUp: 200_000n,
  heldTopUp: 290_000n,
  repayFor: 215_000n,
  revokeTopUp: 150_000n,
  setVerified: 75_000n,
  /** `many`: this once per transaction; see `manyGasLimit`. */
  manyBase: 200_000n,
  /** `many`: this for each operation, whatever its kind. */
  manyPerOp: 165_000n,
  /** ERC-3009 with an ECDSA signature, either overload. */
  transferWithAuthorization: 125_000n,
  /** ERC-3009 from a contract wallet, whose own check may cost up to 100,000. */
  transferWithAuthorizationFromContract: 230_000n,
  /** A plain payment of native coin to an account without code. */
  nativeTransfer: 21_000n,
} as const

/**
 * Gas limit of a `many` with `opCount` operations. Includes what the contract wants to see left
 * before the last one, so a good operation is never reported as failed for want of gas.
 */
export function manyGasLimit(opCount: number): bigint {
  return gasLimits.manyBase + gasLimits.manyPerOp * BigInt(opCount)
}
