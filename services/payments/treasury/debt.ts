import { ChainAccount, ChainTerms } from '#shared/messages/chain'
import { IndexerDebt } from '#shared/messages/indexer'
import { type Answer, ok } from '#shared/refusals'
import { askOr, type Context } from '../context'

/** Debt of a wallet; amounts in 10⁻⁶ AUSD. */
export type Debt = {
  readonly drawnMicro: bigint
  /** Part that stays payable whatever the limits: all of the debt if it is due, otherwise the part owed for a day. */
  readonly ripeMicro: bigint
  readonly mayTopUp: boolean
}

/**
 * Reads a wallet's debt. A debt that its owner drew moments ago and can repay from the wallet is no reason to
 * let money in past the limits of top-ups. If the age of the debt is unknown, nothing of it is ripe.
 */
export async function readDebt(context: Context, wallet: `0x${string}`): Promise<Answer<Debt>> {
  const [account, age, terms] = await Promise.all([
    askOr(context, ChainAccount, { wallet }, 'chain_unavailable'),
    askOr(context, IndexerDebt, { wallet }, 'indexer_lags'),
    askOr(context, ChainTerms, {}, 'chain_unavailable'),
  ])
  if ('refused' in account) return account
  const drawnMicro = BigInt(account.ok.drawn)
  const mayTopUp = account.ok.verified && !account.ok.frozen
  if (account.ok.defaulted) return ok({ drawnMicro, ripeMicro: drawnMicro, mayTopUp })
  if ('refused' in age) return ok({ drawnMicro, ripeMicro: 0n, mayTopUp })
  const { openedAt, blockTime, owedForDay } = age.ok
  const termSeconds = 'ok' in terms ? terms.ok.cycle.termSeconds : Number.POSITIVE_INFINITY
  // Nothing can be drawn once the term has passed, so all of the debt is due.
  const isDue = openedAt !== null && Number(blockTime) > Number(openedAt) + termSeconds
  const owedMicro = BigInt(owedForDay)
  const ripeMicro = isDue || owedMicro > drawnMicro ? drawnMicro : owedMicro
  return ok({ drawnMicro, ripeMicro, mayTopUp })
}
