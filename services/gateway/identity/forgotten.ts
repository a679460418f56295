import type { Tx } from '#platform/db/open'
import { claimsOf } from '#shared/chain/claims'
import { ChainAccount } from '#shared/messages/chain'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { recordAnomaly } from './anomaly.store'

// A person has one record only while the identity provider recognises the person. If the provider deletes the data of a
// borrower on whom there is a claim, it verifies another wallet of the same person, so operators are alerted.

/** Reads the claims on the holder of a wallet. Throws if the chain cannot be read. */
export const readClaims = async ({ ask }: Pick<Context, 'ask'>, wallet: `0x${string}`): Promise<string[]> =>
  claimsOf(okOf(await ask(ChainAccount, { wallet })))

/** Alerts an operator once per `id` that the provider forgot the holder of a wallet on whom there are claims. */
export async function reportForgotten(
  tx: Tx,
  { provider, log }: Pick<Context, 'provider' | 'log'>,
  { id, wallet, claims }: { id: string; wallet: `0x${string}`; claims: readonly string[] },
): Promise<void> {
  if (claims.length === 0) return
  const detail = claims.join('; ')
  if (!(await recordAnomaly(tx, { deliveryId: id, kind: 'forgotten', provider: provider.name, detail }))) return
  log.alarm({ wallet, detail }, 'identity deleted at provider despite a claim')
}
