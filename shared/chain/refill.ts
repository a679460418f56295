import type { Static } from 'typebox'
import { journeyWei, lastCallWei } from '#shared/chain/gas'
import type { ChainAccount } from '#shared/messages/chain'

/** Refills that a wallet may get beyond one for each closed cycle. */
export const refillsInAdvance = 2

type Account = Pick<
  Static<(typeof ChainAccount)['answer']>,
  'verified' | 'frozen' | 'drawn' | 'encumbered' | 'collateral' | 'cycles' | 'balance'
>

/**
 * Returns true if a wallet is due another drip after its first. It must be verified and have collateral or debt, and hold
 * less than it needs for a cycle (one refill for each closed cycle) or for its last call (`refillsInAdvance` more, so that
 * every borrower can withdraw collateral). `given` counts its refills so far. The count bounds a wallet that sends its coin
 * away: however often it does, it gets `cycles + refillsInAdvance` refills. One for each UTC day is the other bound, which
 * the cause of the order sets.
 */
export function isRefillDue({ balance, cycles, ...account }: Account, given: number): boolean {
  if (!account.verified || account.frozen || !hasStake(account)) return false
  const heldWei = BigInt(balance.native)
  const [neededWei, most] = given < cycles ? [journeyWei, cycles] : [lastCallWei, cycles + refillsInAdvance]
  // guard: a wallet gets no more refills than its closed cycles and two
  return given < most && heldWei < neededWei
}

const hasStake = ({ drawn, encumbered, collateral }: Pick<Account, 'drawn' | 'encumbered' | 'collateral'>): boolean =>
  [drawn, encumbered, collateral.shares, collateral.pendingShares].some((amount) => BigInt(amount) > 0n)

/** Returns the UTC day of a time in Unix ms, as refills are named. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
