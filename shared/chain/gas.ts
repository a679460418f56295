/**
 * Fixed gas limits of what the relayer sends, one per function: Monad charges the limit, not the
 * gas used, so they are tight.
 *
 * Measured on anvil in the worst state of each function (`infra/contracts/gas.test.ts` repeats the
 * measurement): fresh account, fresh slots, cycle closing with an excess. Each cold slot counts
 * 6000 more and each cold account 7500 more, as on Monad (8100 and 10100, not 2100 and 2600,
 * https://docs.monad.xyz/developer-essentials/opcode-pricing), and about a tenth is added. The real
 * token stands behind a proxy, one cold account more than the stand-in: 10,000 for what moves AUSD.
 * `bun run deploy` holds the limits against `eth_estimateGas` of the chain it is at. No limit
 * depends on an account's history: relayed operations never walk its lots.
 */
export const gasLimits = {
  topUp: 215_000n,
  heldTopUp: 315_000n,
  repayFor: 305_000n,
  heldRepayFor: 495_000n,
  revokeTopUp: 160_000n,
  revokeRepayment: 285_000n,
  extendHold: 210_000n,
  setVerified: 85_000n,
  setFrozen: 85_000n,
  /** ERC-3009 with an ECDSA signature, either overload. */
  transferWithAuthorization: 140_000n,
  /** ERC-3009 from a contract wallet, whose own check may cost up to 100,000. */
  transferWithAuthorizationFromContract: 245_000n,
  /** A plain payment of native coin to an account without code. */
  nativeTransfer: 21_000n,
} as const

/**
 * Gas limits for what users send themselves. Each folds at most twelve of the account's holds or the
 * pool's, so none needs more, whatever the account's history; all are within the 400,000 that apps
 * always sent.
 */
export const userGasLimits = {
  draw: 400_000n,
  repay: 225_000n,
  repayWithPermit: 305_000n,
  repayFromCollateral: 350_000n,
  withdrawCollateral: 325_000n,
} as const

/** What `many` of the credit line takes, and its number there (`Op.kind`). */
export const opKinds = {
  topUp: 0,
  heldTopUp: 1,
  repayFor: 2,
  revokeTopUp: 3,
  heldRepayFor: 4,
  revokeRepayment: 5,
  extendHold: 6,
} as const
export type OpKind = keyof typeof opKinds

/** What the contract wants left before each operation of `many`: its `OP_GAS_FLOOR`. */
export const opGasFloor = 450_000n

/** Once per `many`: the transaction itself, and coming to the first operation. */
const manyBase = 40_000n

/**
 * Gas limit of a `many` of these operations, in this order. Includes what the contract wants to see
 * left before the last one, so a good operation is never reported as failed for want of gas.
 */
export function manyGasLimit(ops: readonly OpKind[]): bigint {
  const sum = ops.reduce((total, kind) => total + gasLimits[kind], manyBase)
  const last = ops.at(-1)
  const missing = opGasFloor - (last ? gasLimits[last] : 0n)
  return missing > 0n ? sum + missing : sum
}

/**
 * Each transfer of a bundle: ERC-3009 with an ECDSA signature, called by Multicall3. Measured as the
 * others are; the transaction itself and the token's code are paid for once.
 */
export const bundledTransferGas = 95_000n

/** Once per bundle: the transaction, the token behind its proxy, and what a last call must leave (EIP-150). */
const bundleBase = 60_000n

/** Gas limit of an `aggregate3` of so many transfers with an authorization, all signed by keys. */
export const bundleGasLimit = (transfers: number): bigint =>
  bundleBase + BigInt(transfers) * bundledTransferGas
