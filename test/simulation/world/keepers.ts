import type { Hex } from 'viem'
import type { Op } from '../chain/calls'
import { withdrawableOf } from '../chain/line'
import { chance, oneOf, pick, waitWithin } from './choices'
import type { Surroundings } from './services'

/** Most time in ms between two looks. */
const lookMs = 2_000
/** Longest pauses in ms. The second is longer than an order is sent again. */
const pausesMs = [10_000, 60_000]

/**
 * Starts those who call the credit line besides services and borrowers: a holder of `PAUSER_ROLE`, who pauses it for a while
 * until the faults are over; others, who default overdue accounts and seize what became collateral later; and users who
 * withdraw all that they can.
 */
export function startKeepers({ world, chain }: Surroundings): void {
  const { choices } = world
  const { contract } = chain
  let pausedUntil = 0
  const lookAtPause = () => {
    const isPaused = contract.pausesAt(chain.latest.number).since > 0n
    // The block of the last call may have been replaced without it.
    if (isPaused && (world.isCalm || world.now >= pausedUntil)) chain.foreign({ kind: 'unpause' })
    if (isPaused || world.isCalm || !chance(choices, 10)) return
    pausedUntil = world.now + oneOf(choices, pick(choices, pausesMs))
    world.saw('the credit line was paused')
    world.tell('the credit line is paused')
    chain.foreign({ kind: 'pause' })
  }
  const callAbout = (wallet: Hex): Op => {
    const { number, timestamp } = chain.latest
    const account = contract.accountAt(wallet, number, timestamp)
    const { isDefaulted, drawn } = account.line
    if (isDefaulted) return drawn > 0n ? { kind: 'seize', wallet } : { kind: 'draw', wallet, amount: account.free }
    if (chance(choices, 300)) return { kind: 'withdraw', wallet, amount: withdrawableOf(account, contract.terms) }
    return { kind: 'default', wallet }
  }
  const callOne = () => {
    const { number, timestamp } = chain.latest
    const wallets = contract.lines.subjects as readonly Hex[]
    const mayBeDefaulted = (wallet: Hex) => !contract.refusalOf({ kind: 'default', wallet }, number, timestamp)
    const overdue = chance(choices, 300) ? wallets.filter(mayBeDefaulted) : []
    const among = overdue.length > 0 ? overdue : wallets
    if (among.length > 0) chain.foreign(callAbout(pick(choices, among)))
  }
  const look = () => {
    lookAtPause()
    if (!world.isCalm) callOne()
    world.after(waitWithin(choices, lookMs), undefined, look)
  }
  look()
}
