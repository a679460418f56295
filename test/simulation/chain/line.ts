import type { Hex } from 'viem'
import type { CallRefusal } from './calls'

/** A wallet's credit line and the AUSD that it lets the line take, after a block. Amounts are in 10⁻⁶ AUSD. */
export type Line = {
  readonly block: bigint
  readonly wallet: Hex
  readonly drawn: bigint
  /** Number of the open cycle, or of the next one if none is open. */
  readonly cycle: number
  /** Beginning of the open cycle in Unix seconds; 0 if none is open. */
  readonly openedAt: bigint
  /** Permission of the automatic repayment, which is none if `max` is 0. */
  readonly max: bigint
  readonly fromCollateral: boolean
  /** AUSD that was repaid automatically in the cycle `takenIn`. */
  readonly taken: bigint
  readonly takenIn: number
  /** Collateral besides top-ups. */
  readonly collateral: bigint
  readonly allowance: bigint
  /** AUSD that the wallet has drawn and not repaid out of its own. */
  readonly borrowed: bigint
  readonly isFrozenByIssuer: boolean
}

export const newLine = (wallet: Hex): Line => ({
  block: 0n,
  wallet,
  drawn: 0n,
  cycle: 1,
  openedAt: 0n,
  max: 0n,
  fromCollateral: false,
  taken: 0n,
  takenIn: 0,
  collateral: 0n,
  allowance: 0n,
  borrowed: 0n,
  isFrozenByIssuer: false,
})

/** Terms in seconds, so short that the cycles of a world become due in it. The grace is the least that the contract has. */
const termSeconds = 60n
const graceSeconds = 86_400n

export const dueAtOf = ({ openedAt }: Line): bigint => openedAt + termSeconds
export const defaultsAtOf = (line: Line): bigint => dueAtOf(line) + graceSeconds
/** Returns the first second in which the contract repays a debt automatically. */
export const startsAtOf = (line: Line): bigint => dueAtOf(line) - termSeconds / 2n

export const takenInCycle = ({ cycle, taken, takenIn }: Line): bigint => (takenIn === cycle ? taken : 0n)

export const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

export const drawnBy = (line: Line, amount: bigint, time: bigint): Line => ({
  ...line,
  drawn: line.drawn + amount,
  borrowed: line.borrowed + amount,
  openedAt: line.openedAt === 0n ? time : line.openedAt,
})

/** Returns the line after a repayment of at most the debt. The cycle closes when nothing is owed. */
export function repaidBy(line: Line, amount: bigint): Line {
  const drawn = line.drawn - amount
  if (drawn > 0n || line.openedAt === 0n) return { ...line, drawn }
  return { ...line, drawn, openedAt: 0n, cycle: line.cycle + 1 }
}

/** Returns the line after the repayment of a debt of `openedAt` was revoked: the debt keeps its age. */
export const restoredBy = (line: Line, amount: bigint, openedAt: bigint): Line => ({
  ...line,
  drawn: line.drawn + amount,
  openedAt: line.openedAt === 0n ? openedAt : least(line.openedAt, openedAt),
})

const amountOf = (line: Line): bigint => least(line.max - takenInCycle(line), line.drawn)

/** Returns the reason for which `autoRepay` reverts. `balance` is the AUSD of the wallet. */
export function refusalOfAutoRepay(line: Line, balance: bigint, time: bigint): CallRefusal | undefined {
  const { max, openedAt, fromCollateral, collateral, isFrozenByIssuer, allowance } = line
  if (max === 0n) return 'AutoRepayNotAllowed'
  if (openedAt === 0n) return 'NothingOwed'
  if (time < startsAtOf(line)) return 'AutoRepayTooEarly'
  if (takenInCycle(line) >= max) return 'AutoRepayLimitReached'
  const amount = amountOf(line)
  if (fromCollateral) return collateral < amount ? 'InsufficientCollateral' : undefined
  if (isFrozenByIssuer) return 'AccountIsFrozen'
  if (allowance < amount) return 'ERC20InsufficientAllowance'
  return balance < amount ? 'ERC20InsufficientBalance' : undefined
}

export const sightOfRevert = (refusal: CallRefusal): string =>
  `automatic repayment reverted after its examination: ${refusal}`
const reverts = [
  'AutoRepayNotAllowed',
  'NothingOwed',
  'AutoRepayLimitReached',
  'InsufficientCollateral',
  'AccountIsFrozen',
  'ERC20InsufficientAllowance',
  'ERC20InsufficientBalance',
] as const
export const revertsToSee: readonly string[] = reverts.map(sightOfRevert)

/** Returns what an accepted `autoRepay` takes, and the line after it. */
export function autoRepay(line: Line): { readonly amount: bigint; readonly after: Line } {
  const { cycle, fromCollateral } = line
  const amount = amountOf(line)
  const counted = { ...line, taken: takenInCycle(line) + amount, takenIn: cycle }
  const paid = fromCollateral
    ? { ...counted, collateral: line.collateral - amount }
    : { ...counted, borrowed: line.borrowed - amount, allowance: line.allowance - amount }
  return { amount, after: repaidBy(paid, amount) }
}
