import type { Hex } from 'viem'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import type { CallRefusal } from './calls'

// The rules of one account, each of which names the function of the contract that it repeats.

/** Terms of the credit line; times in seconds. `contract.test.ts` compares the model with the contract under other terms. */
export type Terms = {
  readonly holdSeconds: bigint
  /** Total extension of a hold (`EXTENSION_MAX`). */
  readonly extensionSeconds: bigint
  readonly termSeconds: bigint
  readonly graceSeconds: bigint
  /** Time after a payment in which it may be recorded, and so before a default (`RECORDING_MAX`). */
  readonly recordingSeconds: bigint
  /** Grace of restored debt (`RESTORED_GRACE`). */
  readonly restoredSeconds: bigint
  /** Share of the collateral that can be drawn, in basis points. It stays, because no cycle has the least debt of a reward. */
  readonly ratioBps: bigint
}

/** What the contract adds to the terms of a deployment. */
export const fixedTerms = {
  extensionSeconds: 86_400n,
  recordingSeconds: BigInt(recordingSeconds),
  restoredSeconds: 86_400n,
} as const

/** Terms so short that the cycles of a world become due in it, and the unpaid ones are defaulted. */
export const worldTerms: Terms = {
  holdSeconds: 30n,
  extensionSeconds: fixedTerms.extensionSeconds,
  termSeconds: 60n,
  graceSeconds: 30n,
  recordingSeconds: 40n,
  restoredSeconds: 20n,
  ratioBps: 5_000n,
}

/** The contract's pauses after a block; times in Unix seconds, 0 for none. */
export type Pauses = {
  readonly block: bigint
  /** Beginning of the pause that lasts. */
  readonly since: bigint
  /** Length of the pauses that have ended. */
  readonly seconds: bigint
  readonly lastSince: bigint
  readonly lastSeconds: bigint
}
export const noPauses: Pauses = { block: 0n, since: 0n, seconds: 0n, lastSince: 0n, lastSeconds: 0n }

/** Follows `_startClock`: the dates of all open cycles move by the length of the pause when it ends. */
export const unpaused = (pauses: Pauses, time: bigint): Omit<Pauses, 'block'> => {
  const length = currentPause(pauses, time)
  return { since: 0n, seconds: pauses.seconds + length, lastSince: pauses.since, lastSeconds: length }
}

const currentPause = ({ since }: Pauses, time: bigint): bigint => (since === 0n ? 0n : time - since)

/** What a rule depends on besides the line itself. */
export type Now = { readonly terms: Terms; readonly pauses: Pauses; readonly time: bigint }

/** A wallet's credit line and the AUSD that it lets the line take, after a block. Amounts are in 10⁻⁶ AUSD. */
export type Line = {
  readonly block: bigint
  readonly wallet: Hex
  readonly drawn: bigint
  /** Number of the open cycle, or of the next one if none is open. */
  readonly cycle: number
  /** Beginning of the open cycle in Unix seconds; 0 if none is open. */
  readonly openedAt: bigint
  /** Due date of the open cycle, on the clock that stops during a pause. */
  readonly dueAt: bigint
  /** Time of the open cycle's latest payment. */
  readonly paidAt: bigint
  /** Time at which debt was last restored, on the clock that stops during a pause; 0 if none was. */
  readonly restoredAt: bigint
  /** True if a payment of the open cycle was revoked. */
  readonly isReversed: boolean
  readonly isDefaulted: boolean
  /** Permission of the automatic repayment, which is none if `max` is 0. */
  readonly max: bigint
  readonly fromCollateral: boolean
  /** AUSD that was repaid automatically in the cycle `takenIn`. */
  readonly taken: bigint
  readonly takenIn: number
  /** Collateral besides the payments in the contract, less what was taken; so it may be below 0. */
  readonly collateral: bigint
  readonly allowance: bigint
  /** AUSD that the wallet has drawn or withdrawn, and not repaid out of its own. */
  readonly borrowed: bigint
  readonly isFrozenByIssuer: boolean
}

export const newLine = (wallet: Hex): Line => ({
  block: 0n,
  wallet,
  drawn: 0n,
  cycle: 1,
  openedAt: 0n,
  dueAt: 0n,
  paidAt: 0n,
  restoredAt: 0n,
  isReversed: false,
  isDefaulted: false,
  max: 0n,
  fromCollateral: false,
  taken: 0n,
  takenIn: 0,
  collateral: 0n,
  allowance: 0n,
  borrowed: 0n,
  isFrozenByIssuer: false,
})

/** An account's line with what the holds of its payments make of it now. */
export type Account = {
  readonly line: Line
  /** Collateral that no hold keeps. */
  readonly free: bigint
  readonly pending: bigint
  readonly encumbered: bigint
  /** AUSD in the wallet. */
  readonly balance: bigint
  readonly isFrozen: boolean
}

export type Outcome = 'Short' | 'Late' | 'Reversed' | 'Defaulted'
/** A closed cycle, which continues if one of its payments is revoked. */
export type Closed = Pick<Line, 'block' | 'wallet' | 'cycle' | 'openedAt' | 'dueAt' | 'paidAt'> & {
  readonly outcome: Outcome
}
type Changed = { readonly line: Line; readonly closed?: Closed }

export const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)
const most = (left: bigint, right: bigint): bigint => (left > right ? left : right)

const steps = 15n
const stepOf = ({ holdSeconds }: Terms): bigint => (holdSeconds < steps ? 1n : (holdSeconds + steps - 1n) / steps)
const endOf = (time: bigint, terms: Terms): bigint => {
  const step = stepOf(terms)
  return ((time + step - 1n) / step) * step
}

/** Returns the end of a new hold (`_holdUntil`). */
export const holdUntil = (terms: Terms, time: bigint): bigint => endOf(time + terms.holdSeconds, terms)

const hourSeconds = 3_600n

/** Returns the end of an extended hold, or undefined if it would not be later (`_extendPayment`). */
export function extendedUntil(terms: Terms, hold: { first: bigint; until: bigint }, time: bigint): bigint | undefined {
  const latest = hold.first + endOf(terms.extensionSeconds, terms)
  const until = least(endOf(time + least(terms.holdSeconds, hourSeconds), terms), latest)
  return until <= hold.until ? undefined : until
}

/** Returns the due date that the contract reports (`_dueAt`). */
export const dueAtOf = ({ dueAt }: Line, pauses: Pauses): bigint => dueAt + pauses.seconds

/** Returns the last second in which a payment prevents the default (`_defaultsAt`). */
export function defaultsAtOf(line: Line, { terms, pauses }: Pick<Now, 'terms' | 'pauses'>): bigint {
  const usual = dueAtOf(line, pauses) + terms.graceSeconds
  if (line.restoredAt === 0n) return usual
  const last = usual + terms.recordingSeconds + terms.holdSeconds + terms.extensionSeconds + 2n * stepOf(terms)
  return most(usual, least(line.restoredAt + pauses.seconds, last) + terms.restoredSeconds)
}

/** Returns the first second in which the contract repays a debt automatically (`_autoRepayFrom`). */
export function startsAtOf(line: Line, { terms, pauses }: Pick<Now, 'terms' | 'pauses'>): bigint {
  const day = 86_400n
  return dueAtOf(line, pauses) - (terms.termSeconds < 2n * day ? terms.termSeconds / 2n : day)
}

export const takenInCycle = ({ cycle, taken, takenIn }: Line): bigint => (takenIn === cycle ? taken : 0n)

/** Returns what the collateral lets the account owe (`_limitFloor`). */
export const limitOf = ({ line, free }: Pick<Account, 'line' | 'free'>, { ratioBps }: Terms): bigint =>
  line.isDefaulted ? 0n : (free * ratioBps) / 10_000n

const owes = ({ line, encumbered }: Account): bigint => line.drawn + encumbered

/** Returns the reason for which `draw` reverts. All users are verified, and the pool can lend all. */
export function refusalOfDraw(account: Account, amount: bigint, { terms, pauses, time }: Now): CallRefusal | undefined {
  const { line, isFrozen } = account
  if (pauses.since > 0n) return 'EnforcedPause'
  if (line.isDefaulted) return 'AccountDefaulted'
  if (isFrozen) return 'AccountFrozen'
  if (line.openedAt > 0n && time > dueAtOf(line, pauses)) return 'TermPassed'
  return owes(account) + amount > limitOf(account, terms) ? 'LimitExceeded' : undefined
}

/** Follows `_addDebt`. */
export function drawnBy(line: Line, amount: bigint, { terms, pauses, time }: Now): Line {
  const after = { ...line, drawn: line.drawn + amount, borrowed: line.borrowed + amount }
  return line.openedAt > 0n
    ? after
    : openedBy(after, { openedAt: time, dueAt: time + terms.termSeconds - pauses.seconds })
}

/** Follows `_open`. */
const openedBy = (line: Line, { openedAt, dueAt }: Pick<Line, 'openedAt' | 'dueAt'>): Line => ({
  ...line,
  openedAt,
  dueAt,
  paidAt: 0n,
  restoredAt: 0n,
})

/** Returns the reason for which `withdrawCollateral` reverts. */
export function refusalOfWithdrawal(account: Account, amount: bigint, { terms, pauses }: Now): CallRefusal | undefined {
  if (pauses.since > 0n) return 'EnforcedPause'
  if (account.isFrozen) return 'AccountFrozen'
  if (amount > account.free) return 'InsufficientCollateral'
  const left = { ...account, free: account.free - amount }
  return owes(account) > limitOf(left, terms) ? 'LimitExceeded' : undefined
}

/** Returns the most that can be withdrawn, whatever freezes and pauses forbid it. */
export function withdrawableOf(account: Account, { ratioBps }: Terms): bigint {
  const owed = owes(account)
  if (account.line.isDefaulted) return owed === 0n ? account.free : 0n
  return most(0n, account.free - (owed * 10_000n + ratioBps - 1n) / ratioBps)
}

/** Follows `_paidAtWithin`. */
export const paidAtWithin = ({ openedAt }: Line, paidAt: bigint, { terms, time }: Now): bigint =>
  least(most(paidAt, most(time - terms.recordingSeconds, openedAt)), time)

/** Returns the line after a repayment of at most the debt, which may close its cycle (`_subtractDebt`, `_closeRepaid`). */
export function repaidBy(line: Line, amount: bigint, { paidAt, now }: { paidAt: bigint; now: Now }): Changed {
  const drawn = line.drawn - amount
  if (line.openedAt === 0n) return { line: { ...line, drawn } }
  const after = { ...line, drawn, paidAt: most(line.paidAt, paidAt) }
  return drawn > 0n ? { line: after } : closedBy(after, outcomeOf(after, now))
}

/** Follows `_closeCycle`. */
function closedBy(line: Line, outcome: Outcome): Changed {
  const { block, wallet, cycle, openedAt, dueAt, paidAt } = line
  return {
    line: { ...line, openedAt: 0n, isReversed: false, cycle: cycle + 1 },
    closed: { block, wallet, cycle, openedAt, dueAt, paidAt, outcome },
  }
}

/** Follows `_outcomeOf`. */
function outcomeOf(line: Line, { pauses, time }: Now): Outcome {
  if (isPaidLate(line, pauses, time)) return 'Late'
  return line.isReversed ? 'Reversed' : 'Short'
}

/** Returns true if the latest payment came after the due date, which a pause moves for later payments only (`_isLate`). */
export function isPaidLate({ dueAt, paidAt }: Pick<Line, 'dueAt' | 'paidAt'>, pauses: Pauses, time: bigint): boolean {
  const moved = dueAt + pauses.seconds + currentPause(pauses, time)
  if (paidAt >= pauses.lastSince + pauses.lastSeconds) return paidAt > moved
  return least(paidAt, pauses.lastSince) > moved - pauses.lastSeconds
}

/** Returns the line after a repayment was revoked, whose cycle may have ended as `closed` (`_returnDebt`, `_reopen`). */
export function restoredBy(
  line: Line,
  amount: bigint,
  { cycle, closed, now: { pauses, time } }: { cycle: number; closed: Closed | undefined; now: Now },
): Line {
  const restoredAt = time - pauses.seconds - currentPause(pauses, time)
  const after = { ...line, drawn: line.drawn + amount }
  if (line.openedAt > 0n && line.cycle === cycle) return { ...after, isReversed: true, restoredAt }
  if (line.isDefaulted || !closed) return { ...after, restoredAt }
  if (line.openedAt === 0n) return { ...openedBy(after, closed), restoredAt }
  const openedAt = least(line.openedAt, closed.openedAt)
  return { ...after, openedAt, dueAt: least(line.dueAt, closed.dueAt), restoredAt }
}

/** Returns the reason for which `markDefault` reverts. */
export function refusalOfDefault({ line }: Account, now: Now): CallRefusal | undefined {
  if (now.pauses.since > 0n) return 'EnforcedPause'
  if (line.isDefaulted) return 'AccountDefaulted'
  if (line.openedAt === 0n) return 'NothingOwed'
  return now.time <= defaultsAtOf(line, now) + now.terms.recordingSeconds ? 'TermNotPassed' : undefined
}

/** Follows `_default`. */
export const defaultedBy = (account: Account): Changed =>
  closedBy({ ...seizedBy(account), isDefaulted: true }, 'Defaulted')

/** Returns the reason for which `seizeMore` reverts. */
export function refusalOfSeizure({ line, free }: Account, { pauses }: Now): CallRefusal | undefined {
  if (pauses.since > 0n) return 'EnforcedPause'
  if (!line.isDefaulted) return 'NotDefaulted'
  if (line.drawn === 0n) return 'NothingOwed'
  return free === 0n ? 'InsufficientCollateral' : undefined
}

/** Returns the line after collateral that is not held paid the debt (`_seizeForDebt`). */
export function seizedBy({ line, free }: Pick<Account, 'line' | 'free'>): Line {
  const amount = least(line.drawn, free)
  return { ...line, drawn: line.drawn - amount, collateral: line.collateral - amount }
}

/** Returns the reason for which AUSD cannot be taken from the wallet (`transferFrom` of the token). */
function refusalOfPayment({ line, balance }: Account, amount: bigint): CallRefusal | undefined {
  if (line.isFrozenByIssuer) return 'AccountIsFrozen'
  if (line.allowance < amount) return 'ERC20InsufficientAllowance'
  return balance < amount ? 'ERC20InsufficientBalance' : undefined
}

/** Returns the reason for which `repay` reverts. */
export function refusalOfRepayment(account: Account, amount: bigint): CallRefusal | undefined {
  if (account.line.drawn === 0n) return 'NothingOwed'
  return refusalOfPayment(account, least(amount, account.line.drawn))
}

/** Follows `_repayFromWallet` with at most the debt. */
export function repaidFromWallet(line: Line, amount: bigint, now: Now): Changed {
  const paid = { ...line, borrowed: line.borrowed - amount, allowance: line.allowance - amount }
  return repaidBy(paid, amount, { paidAt: now.time, now })
}

const amountOf = (line: Line): bigint => least(line.max - takenInCycle(line), line.drawn)

/** Returns the reason for which `autoRepay` reverts. */
export function refusalOfAutoRepay(account: Account, now: Now): CallRefusal | undefined {
  const { line, free } = account
  if (now.pauses.since > 0n) return 'EnforcedPause'
  if (line.max === 0n) return 'AutoRepayNotAllowed'
  if (line.openedAt === 0n) return 'NothingOwed'
  if (now.time < startsAtOf(line, now)) return 'AutoRepayTooEarly'
  if (takenInCycle(line) >= line.max) return 'AutoRepayLimitReached'
  const amount = amountOf(line)
  // Free collateral covers the debt, unless yield has made rounding expensive.
  if (line.fromCollateral) return free < amount ? 'InsufficientCollateral' : undefined
  return refusalOfPayment(account, amount)
}

export const sightOfRevert = (refusal: CallRefusal): string =>
  `automatic repayment reverted after its examination: ${refusal}`
const reverts = [
  'EnforcedPause',
  'AutoRepayNotAllowed',
  'NothingOwed',
  'AutoRepayLimitReached',
  'AccountIsFrozen',
  'ERC20InsufficientAllowance',
  'ERC20InsufficientBalance',
] as const satisfies readonly CallRefusal[]
export const revertsToSee: readonly string[] = reverts.map(sightOfRevert)

/** Returns what an accepted `autoRepay` takes, and the line after it. */
export function autoRepay(line: Line, now: Now): Changed & { readonly amount: bigint } {
  const { cycle, fromCollateral } = line
  const amount = amountOf(line)
  const counted = { ...line, taken: takenInCycle(line) + amount, takenIn: cycle }
  if (!fromCollateral) return { amount, ...repaidFromWallet(counted, amount, now) }
  const paid = { ...counted, collateral: line.collateral - amount }
  return { amount, ...repaidBy(paid, amount, { paidAt: now.time, now }) }
}
