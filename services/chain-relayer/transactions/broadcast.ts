import { failpoint } from '#shared/failpoint'
import { afterSend, textOf, verdictOnSend } from '../chain/errors'
import { type Context, logThrottled } from '../context'
import {
  type Attempt,
  insertAttempt,
  noteBroadcast,
  type OpenTransaction,
  stillHeld,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import { findOperations } from '../operations/operation.store'
import { bumped, type Fees, raisedGas } from './fees'
import { type Call, noopCall, signCall } from './transaction'

/** A send whose outcome is unknown was most likely lost. */
const soonMs = 1_000
/** A node that keeps asking for a higher fee gets one at most this often. */
const raiseEveryMs = 1_000
/** More would not help: a person has been called long before. */
const attemptsMax = 40
/** This long after its window an authorization is sure to revert; a noop is cheaper. */
const lapsedMs = 30_000

/** Sends whatever is stored and not known to be on its way, lane by lane, in nonce order. */
export const broadcastDue = (context: Context, held: readonly HeldLane[]): Promise<unknown> =>
  Promise.all(held.map((lane) => broadcastLane(context, lane)))

async function broadcastLane(context: Context, held: HeldLane): Promise<void> {
  for (const transaction of held.open) {
    const newest = transaction.attempts.at(-1)!
    if (!isDue(context, newest)) continue
    const answer = await context.node.sendRaw(newest.raw, newest.broadcasts).catch(textOf)
    failpoint('relayer:broadcast')
    context.memory.sent.add(newest.hash)
    await context.database.run((db) => noteBroadcast(db, newest, answer))
    const verdict = verdictOnSend(answer)
    const { next, alarm } = afterSend[verdict]
    const fields = { lane: newest.lane, nonce: newest.nonce, hash: newest.hash, verdict, alarm }
    if (verdict !== 'sent')
      logThrottled(context, `send:${verdict}`, { ...fields, answer }, 'transaction was not taken')
    const tooSoon = context.clock() - newest.createdAt.getTime() < raiseEveryMs
    if (next === 'bump' && !tooSoon) await raiseFees(context, held, transaction)
    if (next === 'raise_gas' && !tooSoon) await raiseGas(context, held, transaction)
    // The rest of the lane would wait for the same silent endpoint, one deadline after the other.
    if (next === 'send_soon') return
  }
}

/** Stored by an earlier process, never sent, or silent too long. Sending again never does harm. */
function isDue(
  { clock, memory, settings }: Pick<Context, 'clock' | 'memory' | 'settings'>,
  attempt: Attempt,
): boolean {
  if (attempt.broadcastAt === null || !memory.sent.has(attempt.hash)) return true
  const { next } = afterSend[verdictOnSend(attempt.lastError)]
  const silentMs = clock() - attempt.broadcastAt.getTime()
  return silentMs >= (next === 'await' ? settings.rebroadcastAfterMs : soonMs)
}

/** A lane whose oldest transaction is in no block for too long gets a better one at that nonce. */
export async function renewStuck(context: Context, held: readonly HeldLane[]): Promise<void> {
  for (const lane of held) {
    const oldest = lane.open[0]
    const newest = oldest?.attempts.at(-1)
    if (!oldest || !newest?.broadcastAt) continue
    if (context.clock() - newest.createdAt.getTime() < context.settings.bumpAfterMs) continue
    const count = await context.node.countAt(lane.lane.address, 'latest')
    if (count > oldest.nonce) continue
    if (await hasLapsed(context, oldest)) await fillWithNoop(context, lane, oldest)
    else await raiseFees(context, lane, oldest)
  }
}

/** Signs the same call again at the same nonce with higher fees. */
const raiseFees = (context: Context, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(context, lane, open, purpose, gas)
}

/** Signs the same call again at the same nonce with a higher gas limit, and higher fees. */
const raiseGas = (context: Context, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(context, lane, open, purpose, raisedGas(gas, 1))
}

/** Fills the nonce with a noop. Whichever attempt is mined decides; a drip never gets one. */
const fillWithNoop = (context: Context, lane: HeldLane, open: OpenTransaction) =>
  renew(context, lane, open, 'noop', noopCall(lane.lane.address).gas)

async function hasLapsed(context: Context, open: OpenTransaction): Promise<boolean> {
  if (open.purpose !== 'op') return false
  const [operation] = await context.database.read((db) => findOperations(db, open.operationIds))
  if (operation?.kind !== 'take' && operation?.kind !== 'send') return false
  const { validBefore } = operation.payload.authorization
  return Number(validBefore) * 1_000 + lapsedMs < context.clock()
}

async function renew(
  context: Context,
  { key, lane }: HeldLane,
  open: OpenTransaction,
  purpose: Attempt['purpose'],
  gas: bigint,
): Promise<void> {
  const last = open.attempts.at(-1)!
  if (open.attempts.length >= attemptsMax) return
  const fees: Fees = bumped(last, await context.node.baseFeeWei())
  const { nonce } = open
  const original: Call = { to: open.to, data: open.data, valueWei: open.valueWei, gas }
  const call = purpose === 'noop' ? noopCall(lane.address) : original
  const signed = await signCall(key, context.settings.chainId, { nonce, call, fees })
  const attempt = last.attempt + 1
  const stored = await context.database.transaction(async (tx) => {
    if (!(await stillHeld(tx, lane, context.holder))) return false
    const at = { lane: lane.address, nonce, attempt }
    await insertAttempt(tx, { ...at, ...signed, ...fees, purpose, gas: call.gas })
    return true
  })
  if (stored)
    context.log.info({ lane: lane.address, nonce, attempt, purpose }, 'transaction renewed')
}
