/**
 * Gas limits per function, which are tight because Monad charges the limit. They are measured on anvil in the dearest
 * state of each function (`infra/contracts/gas.test.ts`). Functions that move AUSD have 19,800 more, since the real
 * token is behind a proxy, and all have a twentieth more. Storage is priced by pages, as on Monad (MIP-8,
 * https://docs.monad.xyz/developer-essentials/opcode-pricing). `bun test/bench/monad/compare.ts` executes the calls by
 * Monad's rules; `bun run deploy` compares with `eth_estimateGas`. Holds are summed in 16 buckets, so no limit depends
 * on an account's history.
 */
export const gasLimits = {
  topUp: 205_000n,
  heldTopUp: 265_000n,
  repayFor: 221_000n,
  heldRepayFor: 310_000n,
  revokeTopUp: 145_000n,
  revokeRepayment: 200_000n,
  extendHold: 140_000n,
  setVerified: 95_000n,
  setFrozen: 95_000n,
  autoRepay: 240_000n,
  /** Transfer by ERC-3009 with an ECDSA signature. */
  transferWithAuthorization: 140_000n,
  /** Transfer whose signature a contract checks, which may cost up to 100,000. */
  transferWithAuthorizationFromContract: 250_000n,
  /** Transfer of native coin to an account without code. */
  nativeTransfer: 21_000n,
} as const

/**
 * Gas limits of users' own transactions. A call folds at most 16 buckets of the account and 16 of the pool. The limits
 * also cover Ethereum's rules where those are dearer, because local chains use them. All are within the 400,000 that
 * apps have always sent.
 */
export const userGasLimits = {
  draw: 400_000n,
  repay: 180_000n,
  repayWithPermit: 240_000n,
  repayFromCollateral: 225_000n,
  withdrawCollateral: 215_000n,
  setAutoRepay: 100_000n,
  /** Approval of AUSD for the credit line. */
  approve: 80_000n,
} as const

/** Monad's least base fee, in wei per gas (https://docs.monad.xyz/developer-essentials/gas-pricing). */
export const leastBaseFeeWei = 100_000_000_000n

/** Tip that every node accepts, in wei per gas. */
export const tipWei = 1_000_000_000n

/**
 * Native coin in wei for a borrower's way through a cycle: a draw, a repayment and two withdrawals, at twice the least
 * fee. Users get no other coin from the service, so a drip of less leaves them unable to repay.
 */
export const journeyWei: bigint =
  (userGasLimits.draw + userGasLimits.repayWithPermit + 2n * userGasLimits.withdrawCollateral) *
  2n *
  (leastBaseFeeWei + tipWei)

/** Native coin in wei for one repayment or withdrawal, whichever is dearer, at twice the least fee. */
export const lastCallWei: bigint = userGasLimits.repayWithPermit * 2n * (leastBaseFeeWei + tipWei)

/** Values of `Op.kind` in the credit line's `many`. */
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

/** The contract's `OP_GAS_FLOOR`, which it requires before each operation of `many`. */
export const opGasFloor = 300_000n

const manyEntry = 35_000n
/** Base of `many`, which includes the pages that all operations share. */
const manyBase = 135_000n
/** Gas of each further operation of `many`, for an account of its own. */
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
 * Returns the gas limit of `many`. Its last operation needs less than the gas required before it, so a valid one never
 * fails for lack of gas.
 */
export function manyGasLimit(ops: readonly OpKind[]): bigint {
  const before = ops.slice(0, -1)
  if (before.length === 0) return manyEntry + opGasFloor
  return before.reduce((sum, kind) => sum + manyGas[kind], manyBase + opGasFloor)
}

/** Gas of one bundled transfer. The transaction and the loading of the token's code are paid once per bundle. */
export const bundledTransferGas = 95_000n

/** Base of a bundle: the transaction, the token's proxy and the reserve of the last call (EIP-150). */
const bundleBase = 60_000n

/** Returns the gas limit of a bundle, all of whose transfers must be signed by EOAs. */
export const bundleGasLimit = (transfers: number): bigint => bundleBase + BigInt(transfers) * bundledTransferGas
