/**
 * Fixed gas limits of the relayer's transactions, one per function. They are tight, because Monad
 * charges the limit, not the gas used.
 *
 * Measured on anvil in the dearest state of each function (`infra/contracts/gas.test.ts` repeats the
 * measurement): new account, new slots, cycle closing with an excess. Storage is priced by pages, as
 * Monad does (MIP-8, https://docs.monad.xyz/developer-essentials/opcode-pricing). Added are 19,800
 * for functions that move AUSD, since the real token is behind a proxy, and a twentieth of the sum.
 * `bun test/bench/monad/compare.ts` executes the same calls by Monad's rules, and `bun run deploy`
 * compares the limits with `eth_estimateGas` on its chain. No limit depends on an account's history,
 * because holds are summed in 16 buckets.
 */
export const gasLimits = {
  topUp: 205_000n,
  heldTopUp: 265_000n,
  repayFor: 220_000n,
  heldRepayFor: 310_000n,
  revokeTopUp: 145_000n,
  revokeRepayment: 200_000n,
  extendHold: 140_000n,
  setVerified: 95_000n,
  setFrozen: 95_000n,
  /** ERC-3009 with an ECDSA signature, either overload. */
  transferWithAuthorization: 140_000n,
  /** ERC-3009 from a contract wallet, whose signature check may cost up to 100,000. */
  transferWithAuthorizationFromContract: 250_000n,
  /** A plain payment of native coin to an account without code. */
  nativeTransfer: 21_000n,
} as const

/**
 * Gas limits of transactions that users send themselves, for any account history: a call folds at
 * most 16 buckets of the account and 16 of the pool. Where folding is dearer by Ethereum's rules than
 * by Monad's, the limit covers both, because local chains charge by the former. All are within the
 * 400,000 that apps have always sent.
 */
export const userGasLimits = {
  draw: 400_000n,
  repay: 175_000n,
  repayWithPermit: 240_000n,
  repayFromCollateral: 225_000n,
  withdrawCollateral: 215_000n,
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
export const opGasFloor = 300_000n

/** Gas of a `many` up to its first operation. */
const manyEntry = 35_000n
/** The same, and the pages that all operations share, which the first one pays for. */
const manyBase = 135_000n
/** Gas of each further operation of a `many`, for an account of its own. */
const manyGas: Record<OpKind, bigint> = {
  topUp: 78_000n,
  heldTopUp: 138_000n,
  repayFor: 114_000n,
  revokeTopUp: 44_000n,
  heldRepayFor: 183_000n,
  revokeRepayment: 100_000n,
  extendHold: 77_000n,
}

/**
 * Returns the gas limit of a `many` of these operations, in this order. The last one needs less than
 * the gas that the contract requires before it, so that a valid operation is never reported as
 * failed for lack of gas.
 */
export function manyGasLimit(ops: readonly OpKind[]): bigint {
  const before = ops.slice(0, -1)
  if (before.length === 0) return manyEntry + opGasFloor
  return before.reduce((sum, kind) => sum + manyGas[kind], manyBase + opGasFloor)
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
