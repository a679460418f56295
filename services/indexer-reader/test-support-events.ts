import type { ChainEvent, EventArgs, EventName } from './event'

export const account = `0x${'a'.repeat(40)}` as const
export const txOf = (block: number) => `0x${String(block).padStart(64, '0')}` as const

/** Returns an event whose block has the time 1000 s plus its number. */
export const at = <N extends EventName>(
  block: number,
  name: N,
  args: Omit<EventArgs[N], 'account' | 'sequence'>,
): ChainEvent =>
  ({
    name,
    args: { account, ...args },
    wallet: name === 'TermsExtended' || name === 'YieldAdded' ? null : account,
    blockNumber: block,
    logIndex: 0,
    txHash: txOf(block),
    atSeconds: 1_000 + block,
  }) as unknown as ChainEvent

export const verified = (block: number, now = true) => at(block, 'VerifiedSet', { verified: now })
export const added = (block: number) =>
  at(block, 'CollateralAdded', { ref: txOf(9), amount: '5', shares: '5', heldUntil: '0' })
export const term = 1_800
export const opened = (block: number, number = 1, openedAt = 1_000 + block) =>
  at(block, 'CycleOpened', datesOf(number, openedAt))
export const redated = (block: number, number: number, openedAt: number) =>
  at(block, 'CycleRedated', datesOf(number, openedAt))
export const datesOf = (number: number, openedAt: number) => ({
  number: `${number}`,
  openedAt: `${openedAt}`,
  dueAt: `${openedAt + term}`,
})
/** Returns the end of a pause that lasted `seconds`. */
export const resumed = (block: number, seconds: number) => at(block, 'TermsExtended', { seconds_: `${seconds}` })
export const drawn = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Drawn', { to: account, amount: `${amount}`, drawnAfter: `${drawnAfter}` })
export const repaid = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'Repaid', {
    ref: txOf(0),
    payer: account,
    amount: `${amount}`,
    drawnAfter: `${drawnAfter}`,
  })
/** Returns a repayment that is held for a minute. */
export const held = (block: number, ref: number, amount: number) =>
  at(block, 'RepaymentHeld', {
    ref: txOf(ref),
    amount: `${amount}`,
    heldUntil: `${1_060 + block}`,
  })
export const extended = (block: number, ref: number, until: number) =>
  at(block, 'HoldExtended', { ref: txOf(ref), heldUntil: `${until}` })
export const revoked = (block: number, ref: number, amount: number, drawnAfter: number, openedAt: number) =>
  at(block, 'RepaymentRevoked', {
    ref: txOf(ref),
    amount: `${amount}`,
    drawnAfter: `${drawnAfter}`,
    openedAt: `${openedAt}`,
  })
export const reversed = (block: number, amount: number, score: number, number = 1) =>
  at(block, 'CycleReversed', {
    number: `${number}`,
    amount: `${amount}`,
    scoreAfter: `${score}`,
  })
export const frozen = (block: number, now = true) => at(block, 'FrozenSet', { frozen: now })
export const closed = (block: number, outcome: number, peak: number, total: number, number = 1, score = 10) =>
  at(block, 'CycleClosed', {
    number: `${number}`,
    outcome: `${outcome}`,
    peakDrawn: `${peak}`,
    totalRepaid: `${total}`,
    scoreAfter: `${score}`,
    ratioBpsAfter: '5250',
  })
export const defaulted = (block: number, seized: number, stillOwed: number) =>
  at(block, 'DefaultMarked', { number: '1', seized: `${seized}`, stillOwed: `${stillOwed}` })
export const seized = (block: number, amount: number, drawnAfter: number) =>
  at(block, 'CollateralSeized', { amount: `${amount}`, shares: '1', drawnAfter: `${drawnAfter}` })

export const heldPart = (untilSeconds: number) => ({
  ref: txOf(7),
  cycle: 1,
  amountMicro: 30n,
  untilSeconds,
})
export const cycle = [opened(3), drawn(3, 100, 100), drawn(4, 50, 150), repaid(5, 150, 0)]
export const owing = [verified(1), opened(3), drawn(3, 100, 100)]
export const inDefault = [...owing, defaulted(5, 60, 40), closed(5, 3, 100, 60, 1, 0)]
/** Events after which 30 of the 100 drawn are repaid under ref 7, by money that may be reversed. */
export const partHeld = [...owing, held(5, 7, 30), repaid(5, 30, 70)]
/** Events after which the wallet has repaid the rest: the cycle closes, with 30 of it still held. */
export const closedHeld = [...partHeld, repaid(6, 70, 0), closed(6, 0, 100, 100)]
export const reopened = [reversed(8, 30, 0), opened(8, 2, 1_003), revoked(8, 7, 30, 30, 1_003)]
export const drawnBack = [reversed(8, 30, 0), redated(8, 2, 1_003), revoked(8, 7, 30, 35, 1_003)]
export const drawnAgain = [...closedHeld, opened(7, 2), drawn(7, 5, 5)]
