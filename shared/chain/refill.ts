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
 * the relayer sets.
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

/** A refill by the UTC day on which it was asked for, and by the hour and the need (`asked`). */
export type RefillName = { readonly refill: string; readonly asked: string }

/**
 * Returns the name of a refill that is asked for now. A wallet that asked too early asks again once it lacks the coin for
 * its last call, and in the next hour.
 */
export function refillNameOf({ balance }: Pick<Account, 'balance'>, ms: number): RefillName {
  const time = new Date(ms).toISOString()
  const isLast = BigInt(balance.native) < lastCallWei
  return { refill: time.slice(0, 10), asked: `${time.slice(11, 13)}${isLast ? '-last' : ''}` }
}

/** Returns the cause of a drip: the wallet, and for a refill its name. */
export const dripCause = ({ wallet, refill, asked }: { readonly wallet: string } & Partial<RefillName>): string =>
  [wallet, refill, asked].filter((part) => part !== undefined).join(':')
