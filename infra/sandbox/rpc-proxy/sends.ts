import { type Hex, keccak256 } from 'viem'
import type { Random } from '../random'
import type { RpcFaults } from './faults'
import type { ProxyJournal, SendOutcome } from './journal'
import { askNode, type RpcAsk, type RpcReply, refuseTo, replyTo } from './rpc'

/** Outcomes by hash. The same bytes do not enter the pool again. */
export type Verdicts = Map<Hex, { refused: string } | 'tracked'>

type Parts = {
  target: string
  faults: RpcFaults
  chance: Random
  verdicts: Verdicts
  journal: ProxyJournal
  later: (work: () => void, ms: number) => void
}

type SendReply = RpcReply | 'hang'

/** Sends a transaction as Monad's pool does, with the active faults. */
export async function send(ask: RpcAsk, parts: Parts): Promise<SendReply> {
  const { faults, chance, verdicts, target } = parts
  const raw = ask.params?.[0] as Hex
  const hash = keccak256(raw)
  const note = (outcome: SendOutcome) => parts.journal.sends.push({ hash, outcome })
  const known = verdicts.get(hash)
  if (known === 'tracked') {
    note('known')
    return replyTo(ask, hash)
  }
  if (known) {
    note('refused again')
    return refuseTo(ask, -32603, known.refused)
  }
  if (chance.hits(faults.poolErrorRate)) {
    if (faults.stickyRefusals) verdicts.set(hash, { refused: faults.poolWord })
    note('refused')
    return refuseTo(ask, -32603, faults.poolWord)
  }
  if (chance.hits(faults.swallowSendRate)) {
    verdicts.set(hash, 'tracked')
    note('swallowed')
    return replyTo(ask, hash)
  }
  if (chance.hits(faults.delaySendRate)) {
    verdicts.set(hash, 'tracked')
    note('delayed')
    parts.later(() => void askNode(target, [ask]).catch(() => {}), faults.delaySendMs)
    return replyTo(ask, hash)
  }
  const [reply] = await askNode(target, [ask])
  if (reply?.error) {
    note('refused by the node')
    return refuseNode(ask, hash, reply.error.message, parts)
  }
  verdicts.set(hash, 'tracked')
  if (!chance.hits(faults.timeoutAfterAcceptRate)) {
    note('forwarded')
    return reply!
  }
  note('forwarded without an answer')
  return 'hang'
}

const translations: readonly (readonly [RegExp, string])[] = [
  [/nonce too low/i, 'Transaction nonce too low'],
  [/underpriced|replacement/i, 'An existing transaction had higher priority'],
  [/insufficient funds/i, 'Signer had insufficient balance'],
  [/intrinsic gas|gas limit too low|gas too low/i, 'Gas limit too low'],
  [/max fee per gas less than|fee cap/i, 'Transaction fee too low'],
]

function refuseNode(ask: RpcAsk, hash: Hex, message: string, { verdicts, faults }: Parts): RpcReply {
  if (/already (known|imported)/i.test(message)) {
    verdicts.set(hash, 'tracked')
    return replyTo(ask, hash)
  }
  const words = translations.find(([pattern]) => pattern.test(message))?.[1]
  if (!words) return refuseTo(ask, -32000, message)
  if (faults.stickyRefusals) verdicts.set(hash, { refused: words })
  return refuseTo(ask, -32603, words)
}
