import { type ChainFacts, isFrozenAt } from '../chain-facts'
import type { Evidence, Ledger } from '../evidence'
import type { CashoutDeed, SendDeed } from '../record'

/** Refusals that blame the wallet or its authorization. */
const blamesWallet = /^(?:balance_too_low|nonce_used|authorization_conflict|signature_invalid)$/

/** Finds cash-outs and sends that failed, or were refused, for a reason that their wallet does not have. */
export function auditFailures({ deeds, entries, chain }: Evidence, ledger: Ledger): void {
  const states = new Map(entries.map(({ id, status }) => [id, status]))
  for (const deed of deeds) {
    if (deed.kind !== 'cashout' && deed.kind !== 'send') continue
    const status = deed.answer ? states.get(deed.answer.id) : undefined
    const isRefused = deed.refused !== null && blamesWallet.test(deed.refused)
    if ((status !== 'failed' && !isRefused) || reasonOf(deed, chain)) continue
    const what = isRefused ? `a ${deed.kind} was refused (${deed.refused})` : `${deed.answer!.id} failed`
    ledger.find(`${what} although ${deed.wallet} had ${deed.valueMicro} and its authorization was valid`)
  }
}

/** Returns a reason of the wallet, as the chain knows it, for which its transfer may fail. */
function reasonOf({ wallet, nonce, valueMicro, askedAtMs, ...deed }: CashoutDeed | SendDeed, chain: ChainFacts) {
  if (chain.isCancelled(wallet, nonce)) return 'cancelled'
  // A transfer that was used in another request, or late, took place.
  if (chain.uses(wallet, nonce).length > 0) return 'used'
  if (deed.kind === 'cashout' && deed.plan.requests > 1) return 'asked for twice'
  if (lowestMicro(wallet, chain) < valueMicro) return 'balance'
  const isLaterFrozen = chain.freezes.some((one) => one.wallet === wallet && one.frozen && one.atMs >= askedAtMs)
  if (isLaterFrozen || isFrozenAt(chain, wallet, askedAtMs)) return 'frozen'
  return undefined
}

/** Returns the lowest AUSD (10⁻⁶) that a wallet had after it was funded, by its transfers from the last to the first. */
function lowestMicro(wallet: string, { transfers, ausdMicro }: ChainFacts): bigint {
  let balance = ausdMicro(wallet)
  let lowest = balance
  for (const { from, to, valueMicro } of transfers.toReversed()) {
    if (from === wallet) balance += valueMicro
    if (to === wallet) balance -= valueMicro
    if (balance < lowest) lowest = balance
  }
  return lowest
}
