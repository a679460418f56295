/**
 * Fixed gas limits of the relayer's transactions, one per function. They are tight, because Monad
 * charges the limit, not the gas used.
 *
 * Measured on anvil in the worst state of each function (`infra/contracts/gas.test.ts` repeats the
 * measurement): fresh account, fresh slots, cycle closing with an excess. Each cold slot counts
 * 6000 more and each cold account 7500 more, as on Monad (8100 and 10100, not 2100 and 2600,
 * https://docs.monad.xyz/developer-essentials/opcode-pricing), plus about a tenth. The real token is
 * behind a proxy, one cold account more than the test token: 10,000 for functions that move AUSD.
 * `bun run deploy` compares the limits with `eth_estimateGas` on its chain. No limit depends on an
 * account's history: relayed operations never walk its lots.
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
  /** ERC-3009 from a contract wallet, whose signature check may cost up to 100,000. */
  transferWithAuthorizationFromContract: 245_000n,
  /** A plain payment of native coin to an account without code. */
  nativeTransfer: 21_000n,
} as const

/**
 * Gas limits of transactions that users send themselves. Each folds at most twelve holds of the
 * account or the pool, so the limit holds for any account history. All are within the 400,000 that
 * apps have always sent.
 */
export const userGasLimits = {
  draw: 400_000n,
  repay: 225_000n,
  repayWithPermit: 305_000n,
  repayFromCollateral: 350_000n,
  withdrawCollateral: 325_000n,
} as const

/** Operations of the credit line's `many`, with their number (`Op.kind`). */
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

/** Gas that the contract requires before each operation of `many`: its `OP_GAS_FLOOR`. */
export const opGasFloor = 450_000n

/** Fixed gas per `many`: the transaction itself, up to its first operation. */
const manyBase = 40_000n

/**
 * Returns the gas limit of a `many` of these operations, in this order. Includes the gas that the
 * contract requires before the last one, so that a valid operation is never reported as failed for
 * lack of gas.
 */
export function manyGasLimit(ops: readonly OpKind[]): bigint {
  const sum = ops.reduce((total, kind) => total + gasLimits[kind], manyBase)
  const last = ops.at(-1)
  const missing = opGasFloor - (last ? gasLimits[last] : 0n)
  return missing > 0n ? sum + missing : sum
}

/**
 * Gas per transfer of a bundle: ERC-3009 with an ECDSA signature, called by Multicall3. Measured
 * like the others; the transaction itself and loading the token's code are paid once.
 */
export const bundledTransferGas = 95_000n

/**
 * Fixed gas per bundle: the transaction, the token behind its proxy, and the reserve of the last
 * call (EIP-150).
 */
const bundleBase = 60_000n

/** Returns the gas limit of an `aggregate3` of transfers with authorization, all signed by EOAs. */
export const bundleGasLimit = (transfers: number): bigint =>
  bundleBase + BigInt(transfers) * bundledTransferGas
