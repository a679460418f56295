import { lockNamed } from '#shared/db/lock'
import type { Tx } from '#shared/db/open'
import { type Answer, ok, refuse } from '#shared/refusals'
import { canRepay, freeMicro, type Treasury } from './cover'
import { sumPromised } from './promise.store'

// Cover checks, in the transaction that stores the promise. A top-up must be covered on top of all
// existing promises; a settlement only by the treasury as a whole.

/**
 * Checks that the treasury covers a top-up. A lock, held until the promise is committed, serialises
 * this over all instances, so that concurrent top-ups see each other's promises.
 */
export async function coverTopup(
  tx: Tx,
  treasury: Treasury | undefined,
  ausdMicro: bigint,
): Promise<Answer<object>> {
  if (!treasury) return refuse('chain_unavailable')
  await lockNamed(tx, 'cover of top-ups')
  const free = freeMicro(treasury, await sumPromised(tx, treasury.readAt))
  return free < ausdMicro ? refuse('treasury_short') : ok({})
}

/** Refuses a settlement only if the treasury is known to be unable to repay the debt. */
export const coverSettlement = (
  treasury: Treasury | undefined,
  debtMicro: bigint,
): Answer<object> =>
  treasury && !canRepay(treasury, debtMicro) ? refuse('treasury_empty') : ok({})
