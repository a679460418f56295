export type Act =
  | { kind: 'verify'; events: 1 }
  | { kind: 'topUp' | 'heldTopUp' | 'revoke'; amountMicro: bigint; events: 1 }
  | { kind: 'draw'; amountMicro: bigint; events: 1 | 2 }
  | { kind: 'repayFor'; amountMicro: bigint; events: 1 | 2 | 3 }
  | { kind: 'repayFromCollateral'; amountMicro: bigint; events: 3 }
  | { kind: 'withdraw'; amountMicro: bigint; events: 1 }
  | { kind: 'markDefault'; events: 2 }

const ausd = 1_000_000n
const verify: Act = { kind: 'verify', events: 1 }
const topUp = (amount: bigint): Act => ({ kind: 'topUp', amountMicro: amount * ausd, events: 1 })
/** Draws; the first draw also opens a cycle. */
const draw = (amount: bigint, first = true): Act => ({
  kind: 'draw',
  amountMicro: amount * ausd,
  events: first ? 2 : 1,
})
/** Repays: 1 event for a part of the debt, 2 if it closes the cycle, 3 if an excess becomes collateral. */
const repay = (amount: bigint, events: 1 | 2 | 3): Act => ({
  kind: 'repayFor',
  amountMicro: amount * ausd,
  events,
})

/** Grace in seconds, the contract's minimum. */
const graceSeconds = 86_400
/** Shortest pause in seconds for which a draw can default four visits later. */
export const pauseLeastSeconds = 500_000

/**
 * Returns terms by which a draw repaid at the next visit is Qualified, at once Short, and three visits later Late;
 * after four it may default.
 */
export const termsOf = (pauseSeconds: number) => ({
  holdSeconds: Math.ceil(1.5 * pauseSeconds),
  minCycleSeconds: Math.floor(pauseSeconds / 2),
  minDebtMicro: ausd,
  termSeconds: Math.ceil(2.5 * pauseSeconds),
  graceSeconds,
})

/**
 * Returns the acts of a visit. Most wallets repay in time, in one part, two or in excess; others repay late, at once or
 * from collateral, pay by card, withdraw or default.
 */
export function actsOf(wallet: number, visit: number): readonly Act[] {
  if (visit === 0) return [verify, topUp(10_000n)]
  if (wallet % 64 === 7) return defaulter(visit)
  switch (wallet % 16) {
    case 2:
      return [draw(20n), repay(20n, 2)]
    case 5:
      return late(visit)
    case 9:
      return visit % 2 === 1 ? [draw(60n)] : [fromCollateral(60n)]
    case 11:
      return card(visit)
    case 13:
      return visit % 3 === 0 ? [withdraw(1n)] : punctual(wallet, visit % 3)
    default:
      return punctual(wallet, visit)
  }
}

const fromCollateral = (amount: bigint): Act => ({
  kind: 'repayFromCollateral',
  amountMicro: amount * ausd,
  events: 3,
})
const withdraw = (amount: bigint): Act => ({
  kind: 'withdraw',
  amountMicro: amount * ausd,
  events: 1,
})

function punctual(wallet: number, visit: number): readonly Act[] {
  const twice = wallet % 3 === 0
  const owed = twice ? 150n : 100n
  if (visit % 2 === 1) return twice ? [draw(100n), draw(50n, false)] : [draw(100n)]
  if (wallet % 4 === 0) return [repay(owed + 5n, 3)]
  return wallet % 4 === 1 ? [repay(30n, 1), repay(owed - 30n, 2)] : [repay(owed, 2)]
}

function late(visit: number): readonly Act[] {
  if (visit % 4 === 1) return [draw(40n)]
  return visit % 4 === 0 ? [repay(40n, 2)] : [topUp(3n)]
}

/** Returns the acts of a user whose held top-up is revoked within the hold. */
function card(visit: number): readonly Act[] {
  if (visit % 4 === 1) return [{ kind: 'heldTopUp', amountMicro: 7n * ausd, events: 1 }]
  if (visit % 4 === 2) return [{ kind: 'revoke', amountMicro: 7n * ausd, events: 1 }]
  return visit % 4 === 3 ? [draw(80n)] : [repay(80n, 2)]
}

function defaulter(visit: number): readonly Act[] {
  if (visit === 1) return [draw(500n)]
  return visit === 5 ? [{ kind: 'markDefault', events: 2 }] : [topUp(2n)]
}
