import { failpoint } from '#shared/failpoint'
import { textOf } from './node'
import { complain, type HeldLane, type Relayer } from './relayer'
import { raiseFees, raiseGas } from './renew'
import { type Attempt, noteBroadcast } from './transaction.store'
import { afterSend, verdictOnSend } from './verdicts'

/** A send whose outcome is unknown was most likely lost. */
const soonMs = 1_000
/** However often a node asks for a higher fee, it gets one at most so often. */
const raiseEveryMs = 1_000

/** Sends whatever is stored and not known to be on its way, lane by lane, in nonce order. */
export const broadcastDue = (relayer: Relayer, held: readonly HeldLane[]): Promise<unknown> =>
  Promise.all(held.map((lane) => broadcastLane(relayer, lane)))

async function broadcastLane(relayer: Relayer, held: HeldLane): Promise<void> {
  for (const transaction of held.open) {
    const newest = transaction.attempts.at(-1)!
    if (!isDue(relayer, newest)) continue
    const answer = await relayer.node.sendRaw(newest.raw, newest.broadcasts).catch(textOf)
    failpoint('relayer:broadcast')
    relayer.memory.sent.add(newest.hash)
    await relayer.database.read((db) => noteBroadcast(db, newest, answer))
    const verdict = verdictOnSend(answer)
    const { next, alarm } = afterSend[verdict]
    const fields = { lane: newest.lane, nonce: newest.nonce, hash: newest.hash, verdict, alarm }
    if (verdict !== 'sent')
      complain(relayer, `send:${verdict}`, { ...fields, answer }, 'transaction was not taken')
    const tooSoon = relayer.clock() - newest.createdAt.getTime() < raiseEveryMs
    if (next === 'bump' && !tooSoon) await raiseFees(relayer, held, transaction)
    if (next === 'raise_gas' && !tooSoon) await raiseGas(relayer, held, transaction)
    // The rest of the lane would meet the same silence, one deadline after the other.
    if (next === 'send_soon') return
  }
}

/** Stored by a former life, never sent, or silent for too long. Sending again is always harmless. */
export function isDue(
  { clock, memory, settings }: Pick<Relayer, 'clock' | 'memory' | 'settings'>,
  attempt: Attempt,
): boolean {
  if (attempt.broadcastAt === null || !memory.sent.has(attempt.hash)) return true
  const { next } = afterSend[verdictOnSend(attempt.lastError)]
  const silentMs = clock() - attempt.broadcastAt.getTime()
  return silentMs >= (next === 'await' ? settings.rebroadcastAfterMs : soonMs)
}
