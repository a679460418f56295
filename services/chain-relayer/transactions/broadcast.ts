import pMap from 'p-map'
import { ageMs } from '#platform/clock'
import { failpoint } from '#platform/failpoint'
import { takeSnapshot } from '../chain/chain-snapshot'
import { afterSend, errorTextOf, verdictOnSend } from '../chain/errors'
import { haltedMs, paceAfter, stands } from '../chain/head-progress'
import type { Head } from '../chain/node'
import type { Broadcasts, Context } from '../context'
import type { CallToSign, Fees } from '../keys/keys'
import { PolicyRefused, spendsOfCall } from '../keys/policy'
import { addressesOf, type HeldLane } from '../lanes/held-lanes'
import {
  type Attempt,
  attemptNow,
  insertAttempt,
  type OpenTransaction,
  recordBroadcasts,
  stillHeld,
} from '../lanes/lane.store'
import { guards } from '../operations/operation'
import { findOperations } from '../operations/operation.store'
import type { Operation } from '../operations/operation.table'
import { costWei, inFlightWei } from './funding'
import { bumped, isRaise, isSigned, noopCall, outbid, raisedGas } from './transaction'

// Stored bytes may be sent any number of times. A transaction that is not mined gets another attempt at the same nonce.
// Neither step frees a nonce.

/** Time in ms after which a request that was most likely lost is sent again. */
const soonMs = 1_000
const raiseEveryMs = 1_000
/** Time in ms past the expiry of a transfer after which it is sure to revert, so that a cheaper noop replaces it. */
const lapsedMs = 30_000
/** Requests at a time, because nodes queue later nonces and a lane need not wait for each. */
const sendAtOnce = 16
/** Most sends per round: a thousand would take longer than the lease, for every instance that takes over. */
const sendsMax = 64

export const broadcastDue = (context: Context, held: readonly HeldLane[]): Promise<unknown> =>
  Promise.all(held.map((lane) => broadcastLane(context, lane)))

async function broadcastLane(context: Context, held: HeldLane): Promise<void> {
  const all = held.open.filter((open) => isDue(context, open))
  const due = all.slice(0, sendsMax)
  if (due.length < all.length) context.wake()
  for (let from = 0; from < due.length; from += sendAtOnce) {
    const answers = await broadcastSome(context, held, due.slice(from, from + sendAtOnce))
    // The remaining transactions would wait for the same endpoint.
    if (answers.some(({ next }) => next === 'send_soon')) return
  }
}

async function broadcastSome(context: Context, held: HeldLane, some: readonly OpenTransaction[]) {
  const { node, database, memory, clock, logThrottled } = context
  const answered = await pMap(some, async (transaction) => {
    const attempt = transaction.attempts.at(-1)!
    const { hash } = attempt
    const count = memory.sent.get(hash)?.count ?? attempt.broadcasts
    const error = await node.sendRaw(attempt.raw, count).catch(errorTextOf)
    failpoint('chain-relayer:broadcast')
    const sent = { hash, count: count + 1, at: clock(), error }
    memory.sent.set(hash, sent)
    return { transaction, attempt, sent, error, verdict: verdictOnSend(error) }
  })
  // The first broadcast of an attempt is usually accepted, and recorded when its transaction ends.
  const notable = answered.map(({ sent }) => sent).filter(({ count, error }) => count > 1 || error !== null)
  if (notable.length > 0) await database.run((db) => recordBroadcasts(db, notable))
  failpoint('chain-relayer:broadcast-noted')
  const steps = answered.map((one) => ({ ...one, ...afterSend[one.verdict] }))
  for (const { transaction, attempt, error: answer, verdict, next, alarm } of steps) {
    const { lane, nonce, hash } = attempt
    const fields = { lane, nonce, hash, verdict, answer }
    const level = alarm ? 'alarm' : 'warn'
    if (verdict !== 'sent') logThrottled[level](`send:${verdict}`, fields, 'transaction not accepted')
    if (ageMs(attempt.createdAt, clock()) < raiseEveryMs) continue
    if (next === 'bump') await raiseFees(context, held, transaction)
    if (next === 'raise_gas') await raiseGas(context, held, transaction)
  }
  return steps
}

/**
 * Returns true if the newest attempt should be sent. Attempts that this process has not sent are due, because resending is
 * harmless. A refused one is sent again only if nothing can replace it, because the words of a refusal may have meant
 * something else that passes.
 */
function isDue(
  { clock, memory, settings }: Pick<Context, 'clock' | 'memory' | 'settings'>,
  { attempts, valueWei }: Pick<OpenTransaction, 'attempts' | 'valueWei'>,
): boolean {
  const attempt = attempts.at(-1)!
  const sent = memory.sent.get(attempt.hash)
  if (!sent) return true
  const { next } = afterSend[verdictOnSend(sent.error)]
  // Only a drip sends coin, and nothing guards it against a second execution.
  const isReplaced = attempt.purpose !== 'noop' && valueWei === 0n
  if (next === 'give_way' && isReplaced) return false
  const isPatient = next === 'await' || next === 'give_way'
  return ageMs(sent.at, clock()) >= (isPatient ? settings.rebroadcastAfterMs : soonMs)
}

export async function renewStuck(context: Context, held: readonly HeldLane[]): Promise<void> {
  if (held.every(({ open }) => open.length === 0)) return
  const { newest: head } = await takeSnapshot(context, addressesOf(held))
  if (isHalted(context, head)) return
  for (const lane of held) {
    const oldest = lane.open[0]
    const newest = oldest?.attempts.at(-1)
    const sent = newest && context.memory.sent.get(newest.hash)
    if (!oldest || !newest || !sent) continue
    if (ageMs(newest.createdAt, context.clock()) < context.settings.bumpAfterMs) continue
    const count = await context.node.countAt(lane.lane.address, 'latest')
    if (count > oldest.nonce) continue
    if (!lane.key) reportRetired(context, oldest)
    else if (givesWay(sent)) await replaceRefused(context, lane, oldest)
    else if (await hasLapsed(context, oldest)) await fillWithNoop(context, lane, oldest)
    else await raiseFees(context, lane, oldest)
  }
}

/** Alerts that an open transaction can be neither mined nor replaced. */
function reportRetired({ logThrottled }: Context, { lane, nonce }: OpenTransaction): void {
  const advice = `LANE_KEYS lacks its key: use its nonce ${nonce} for any transaction (runbook: A lane key is stolen)`
  logThrottled.alarm(`lane:${lane}`, { lane, nonce, advice }, 'lane is blocked')
}

const raiseFees = (context: Context, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(context, lane, open, purpose, gas)
}

const raiseGas = (context: Context, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(context, lane, open, purpose, raisedGas(gas, 1))
}

/** Returns true after a permanent refusal, which higher fees would not change. */
const givesWay = ({ error }: Broadcasts) => afterSend[verdictOnSend(error)].next === 'give_way'

/** Replaces a refused transaction by a noop, unless it is a drip or a noop itself. */
async function replaceRefused(context: Context, lane: HeldLane, open: OpenTransaction) {
  if (open.attempts.at(-1)!.purpose === 'noop') return
  const carried = await context.database.read((db) => findOperations(db, open.operationIds))
  if (carried.some(({ kind }) => guards[kind] === 'none')) return
  await fillWithNoop(context, lane, open)
}

/** Uses the nonce for a noop; whichever attempt is mined decides. */
const fillWithNoop = (context: Context, lane: HeldLane, open: OpenTransaction) =>
  renew(context, lane, open, 'noop', noopCall(lane.lane.address).gas)

/** Returns true while the chain stands still, when a higher fee would not help. */
function isHalted({ memory, clock, settings, logThrottled }: Context, head: Pick<Head, 'number'>): boolean {
  memory.pace = paceAfter(memory.pace, head.number, clock())
  if (!stands(memory.pace, clock(), settings.bumpAfterMs / 2)) return false
  const stillMs = clock() - memory.pace.seenAt
  const fields = { blockNumber: String(head.number), stillMs }
  logThrottled[stillMs > haltedMs ? 'alarm' : 'warn']('halted', fields, 'chain head has not advanced, fee bumps paused')
  return true
}

async function hasLapsed(context: Context, open: OpenTransaction): Promise<boolean> {
  const carried = await context.database.read((db) => findOperations(db, open.operationIds))
  const lapsed = (operation: Operation) =>
    isSigned(operation) && Number(operation.payload.authorization.validBefore) * 1_000 + lapsedMs < context.clock()
  return carried.length > 0 && carried.every(lapsed)
}

async function canPay(
  { node, logThrottled }: Context,
  { lane: { address }, open }: HeldLane,
  { nonce }: OpenTransaction,
  cost: bigint,
): Promise<boolean> {
  const balanceWei = await node.reader.getBalance({ address })
  const others = open.filter((one) => one.nonce !== nonce)
  if (balanceWei - inFlightWei(others) >= cost) return true
  const fields = { lane: address, nonce, balanceWei: String(balanceWei) }
  logThrottled.alarm(`bump:${address}`, fields, 'lane balance too low for a fee bump: fund it')
  return false
}

/**
 * Returns false if the policy no longer allows the call of a transaction at all, as after the credit line was replaced.
 * Its attempts may be mined, but none can be added.
 */
function maySign({ policy }: Context, { nonce, to, data, valueWei }: OpenTransaction): boolean {
  try {
    spendsOfCall(policy, nonce, { to, data, valueWei })
  } catch (error) {
    if (!(error instanceof PolicyRefused)) throw error
    return error.refusal.by !== 'never'
  }
  return true
}

async function renew(
  context: Context,
  held: HeldLane,
  open: OpenTransaction,
  wanted: Attempt['purpose'],
  gas: bigint,
): Promise<void> {
  const { key, lane } = held
  if (!key) return
  const purpose = maySign(context, open) ? wanted : 'noop'
  const last = open.attempts.at(-1)!
  const head = await context.node.newestHead()
  if (isHalted(context, head)) return
  // At the highest fee a node would refuse a noop that pays only 1 wei more.
  const raise = purpose === last.purpose ? bumped : outbid
  const fees: Fees = raise(last, head.baseFeeWei)
  const { nonce } = open
  const original: CallToSign = { to: open.to, data: open.data, valueWei: open.valueWei, gas }
  const call = purpose === 'noop' ? noopCall(lane.address) : original
  const isSame = purpose === last.purpose && call.gas === last.gas
  if (isSame && !isRaise(last, fees)) return
  if (!(await canPay(context, held, open, costWei(call, fees)))) return
  const attempt = last.attempt + 1
  const storing = context.database.transaction(async (tx) => {
    if (!(await stillHeld(tx, lane, context.holder))) return undefined
    const at = { lane: lane.address, nonce, attempt }
    const signed = await key.sign(tx, { nonce, call, fees })
    const given = { ...at, ...signed, ...fees, purpose, gas: call.gas }
    await insertAttempt(tx, given)
    return attemptNow(given, new Date(context.clock()))
  })
  const stored = await storing.catch((error) => {
    if (!(error instanceof PolicyRefused)) throw error
    // The limits were lowered since, so earlier attempts continue at their fees.
    const fields = { lane: lane.address, nonce, why: error.message }
    context.logThrottled.alarm('policy:renew', fields, 'policy refused a fee bump')
    return undefined
  })
  if (!stored) return
  failpoint('chain-relayer:attempt-stored')
  // A later step of the round may send it, or replace it in turn.
  open.attempts.push(stored)
  context.log.info({ lane: lane.address, nonce, attempt, purpose }, 'transaction replacement signed')
}
