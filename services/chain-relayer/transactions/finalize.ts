import { pMapSettled } from 'p-map'
import { fromNow } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { bookTransaction } from '../books/book'
import type { Concluded } from '../books/position'
import type { Place } from '../chain/authorization'
import { afterSend, doubtsMax, textOf, verdictOnSend } from '../chain/errors'
import type { Head, Node, Receipt } from '../chain/node'
import { findNonceUse } from '../chain/nonce'
import { paceAfter, stands } from '../chain/pace'
import type { Context } from '../context'
import type { Call, Fees } from '../keys/keys'
import { PolicyRefused } from '../keys/policy'
import {
  type Attempt,
  closeTransaction,
  insertAttempt,
  noteBroadcast,
  type OpenTransaction,
  stillHeld,
  type TransactionOutcome,
} from '../lanes/lane.store'
import type { HeldLane } from '../lanes/lease'
import { guards, isUpToWallet } from '../operations/operation'
import { findOperations, moveOperation, type Operation } from '../operations/operation.store'
import { fail, settle } from '../operations/order'
import { costOf, paidFor } from './cost'
import { costWei, inFlightWei, noteBurnt } from './cover'
import { bumped, failuresOf, noopCall, raisedGas, runsForeignCode } from './transaction'

/**
 * Brings stored transactions to finality. Broadcasting sends the stored bytes, any number of times;
 * renewing signs another attempt at the same nonce when no block takes the last one; concluding finds
 * the attempt that is final and ends its operations. None of them frees a nonce.
 */

/** A send whose outcome is unknown was most likely lost. */
const soonMs = 1_000
/** A node that keeps asking for a higher fee gets one at most this often. */
const raiseEveryMs = 1_000
/** More would not help: a person has been called long before. */
const attemptsMax = 40
/** A chain that stands for so long calls a person. */
const haltedMs = 30_000
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
      context.logThrottled(`send:${verdict}`, { ...fields, answer }, 'transaction was not taken')
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
  if (next === 'give_way') return false
  const silentMs = clock() - attempt.broadcastAt.getTime()
  return silentMs >= (next === 'await' ? settings.rebroadcastAfterMs : soonMs)
}

/** A lane whose oldest transaction is in no block for too long gets a better one at that nonce. */
export async function renewStuck(context: Context, held: readonly HeldLane[]): Promise<void> {
  if (held.every(({ open }) => open.length === 0)) return
  if (isHalted(context, await context.node.newestHead())) return
  for (const lane of held) {
    const oldest = lane.open[0]
    const newest = oldest?.attempts.at(-1)
    if (!oldest || !newest?.broadcastAt) continue
    if (context.clock() - newest.createdAt.getTime() < context.settings.bumpAfterMs) continue
    const count = await context.node.countAt(lane.lane.address, 'latest')
    if (count > oldest.nonce) continue
    if (givesWay(newest)) await replaceRefused(context, lane, oldest)
    else if (await hasLapsed(context, oldest)) await fillWithNoop(context, lane, oldest)
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

/** Every endpoint refuses these bytes, or the last one did: higher fees would not change that. */
const givesWay = ({ lastError }: Attempt) => afterSend[verdictOnSend(lastError)].next === 'give_way'

/** The rest of the lane does not wait for what nobody takes; a drip does, and a noop is the last word. */
async function replaceRefused(context: Context, lane: HeldLane, open: OpenTransaction) {
  if (open.attempts.at(-1)!.purpose === 'noop') return
  const carried = await context.database.read((db) => findOperations(db, open.operationIds))
  if (carried.some(({ kind }) => guards[kind] === 'none')) return
  await fillWithNoop(context, lane, open)
}

/** Fills the nonce with a noop. Whichever attempt is mined decides; a drip never gets one. */
const fillWithNoop = (context: Context, lane: HeldLane, open: OpenTransaction) =>
  renew(context, lane, open, 'noop', noopCall(lane.lane.address).gas)

/** While no block comes, a higher fee brings nothing nearer; all of it is due when one comes. */
function isHalted({ memory, clock, settings, logThrottled }: Context, head: Head): boolean {
  memory.pace = paceAfter(memory.pace, head.number, clock())
  if (!stands(memory.pace, clock(), settings.bumpAfterMs / 2)) return false
  const stillMs = clock() - memory.pace.seenAt
  const fields = { blockNumber: String(head.number), stillMs, alarm: stillMs > haltedMs }
  logThrottled('halted', fields, 'the newest block stands: no fee is raised')
  return true
}

async function hasLapsed(context: Context, open: OpenTransaction): Promise<boolean> {
  if (open.purpose !== 'op') return false
  const [operation] = await context.database.read((db) => findOperations(db, open.operationIds))
  if (operation?.kind !== 'take' && operation?.kind !== 'send') return false
  const { validBefore } = operation.payload.authorization
  return Number(validBefore) * 1_000 + lapsedMs < context.clock()
}

/** Whether the lane can pay this attempt, besides everything else it has in flight. */
async function canPay(
  { node, logThrottled }: Context,
  { lane: { address }, open }: HeldLane,
  { nonce }: OpenTransaction,
  cost: bigint,
): Promise<boolean> {
  const balanceWei = await node.reader.getBalance({ address })
  const others = open.filter((one) => one.nonce !== nonce)
  if (balanceWei - inFlightWei(others) >= cost) return true
  const fields = { lane: address, nonce, balanceWei: String(balanceWei), alarm: true }
  logThrottled(`bump:${address}`, fields, 'lane cannot pay a higher fee: fund it')
  return false
}

async function renew(
  context: Context,
  held: HeldLane,
  open: OpenTransaction,
  purpose: Attempt['purpose'],
  gas: bigint,
): Promise<void> {
  const { key, lane } = held
  const last = open.attempts.at(-1)!
  if (open.attempts.length >= attemptsMax) return
  const head = await context.node.newestHead()
  if (isHalted(context, head)) return
  const fees: Fees = bumped(last, head.baseFeeWei)
  const { nonce } = open
  const original: Call = { to: open.to, data: open.data, valueWei: open.valueWei, gas }
  const call = purpose === 'noop' ? noopCall(lane.address) : original
  if (!(await canPay(context, held, open, costWei(call, fees)))) return
  const attempt = last.attempt + 1
  const storing = context.database.transaction(async (tx) => {
    if (!(await stillHeld(tx, lane, context.holder))) return false
    const at = { lane: lane.address, nonce, attempt }
    const signed = await key.sign(tx, { nonce, call, fees })
    await insertAttempt(tx, { ...at, ...signed, ...fees, purpose, gas: call.gas })
    return true
  })
  const stored = await storing.catch((error) => {
    if (!(error instanceof PolicyRefused)) throw error
    // The limits were lowered since: what was signed before goes on at the fee it has.
    const fields = { lane: lane.address, nonce, why: error.message, alarm: true }
    context.logThrottled('policy:renew', fields, 'policy refused, no higher fee')
    return false
  })
  if (stored)
    context.log.info({ lane: lane.address, nonce, attempt, purpose }, 'transaction renewed')
}

const askAtOnce = 8
/** A transaction this old whose nonce is used and that has no receipt calls a person. */
const missingMs = 60_000
const searchEveryMs = 10_000

/**
 * Finds out, lane by lane, which transactions are final, and concludes them. Unknown stays
 * unknown.
 */
export async function concludeFinal(context: Context, held: readonly HeldLane[]): Promise<void> {
  const busy = held.filter(({ open }) => open.length > 0)
  if (busy.length === 0) return
  const head = await context.node.finalizedHead()
  for (const { lane, open } of busy) {
    const count = await context.node.countAt(lane.address, 'finalized')
    // Somebody else used the key: the lane is checked again before it gives out a nonce.
    if (count > lane.nextNonce) context.memory.sound.delete(lane.address)
    const mined = open.filter(({ nonce }) => nonce < count)
    const concludeThis = (transaction: OpenTransaction) => concludeOne(context, transaction, head)
    // One that cannot be concluded now stops no other of its lane.
    const tried = await pMapSettled(mined, concludeThis, { concurrency: askAtOnce })
    const failed = tried.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  }
}

async function concludeOne(
  context: Context,
  transaction: OpenTransaction,
  head: Head,
): Promise<void> {
  const found = await finalReceipt(context.node, transaction.attempts, head).catch((error) => {
    context.logThrottled('receipts', { err: error }, 'receipts could not be read')
    return undefined
  })
  if (found) return conclude(context, transaction, found.attempt, found.receipt)
  const { lane, nonce, createdAt } = transaction
  if (context.clock() - createdAt.getTime() < missingMs) return
  const fields = { lane, nonce, alarm: true }
  const use = await searchUse(context, transaction, head)
  if (!use)
    return context.logThrottled(
      `missing:${lane}:${nonce}`,
      fields,
      'nonce is used but no receipt is found',
    )
  const { place, cost } = use
  context.log.error(
    { ...fields, txHash: place.txHash },
    'somebody else sent with the key of a lane',
  )
  await close(context, transaction, { outcome: 'foreign', ...cost }, place)
}

/** Who else used the nonce, searched for now and then: it takes many calls. Unknown is undefined. */
async function searchUse(
  { node, memory, clock, log }: Context,
  { lane, nonce, attempts }: OpenTransaction,
  head: Head,
) {
  const key = `${lane}:${nonce}`
  if (clock() - (memory.searchedAt.get(key) ?? 0) < searchEveryMs) return undefined
  memory.searchedAt.set(key, clock())
  try {
    const place = await findNonceUse(node, lane, nonce, head)
    if (!place || attempts.some(({ hash }) => hash === place.txHash)) return undefined
    const cost = await costOf(node, lane, place)
    return cost && { place, cost }
  } catch (error) {
    log.warn({ err: error, lane, nonce }, 'who used a nonce could not be read')
    return undefined
  }
}

/**
 * The receipt of whichever attempt was mined. Final only when its block is at or below the finalized
 * one and still has the same hash when read again: receipts of unfinalized blocks can vanish.
 */
async function finalReceipt(
  node: Pick<Node, 'receiptOf' | 'headAt'>,
  attempts: readonly Attempt[],
  head: Head,
): Promise<{ attempt: Attempt; receipt: Receipt } | undefined> {
  for (const attempt of attempts.toReversed()) {
    const receipt = await node.receiptOf(attempt.hash)
    if (!receipt || receipt.blockNumber > head.number) continue
    const block = await node.headAt(receipt.blockNumber)
    if (block.hash === receipt.blockHash) return { attempt, receipt }
  }
  return undefined
}

/** How long a drip that reverted rests; the lane has to be filled meanwhile. */
const dripRestMs = 15_000

/** What finality means for one operation of a transaction. */
type Ending = 'settled' | 'failed' | 'waiting'

/** Stores that a transaction is final and what became of its operations, and announces it. */
async function conclude(
  context: Context,
  transaction: OpenTransaction,
  attempt: Attempt,
  receipt: Receipt,
): Promise<void> {
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  const place = { txHash, blockNumber, blockHash }
  const outcome = outcomeOf(attempt, receipt)
  const failures =
    outcome === 'ok' ? failuresOf(receipt.logs, context.contracts.creditLine) : undefined
  const paidWei = await paidFor(context.node, receipt, attempt)
  const { valueWei } = transaction
  await close(context, transaction, { outcome, paidWei, valueWei }, place, failures)
}

/** What reverted in `many`, by position. */
type Failures = ReadonlyMap<number, unknown>

/** Whatever took the nonce is final: none of the other attempts can ever be mined. */
async function close(
  context: Context,
  transaction: OpenTransaction,
  concluded: Concluded,
  place: Place,
  failures?: Failures,
): Promise<void> {
  const { outcome, paidWei } = concluded
  failpoint('relayer:final-before-commit')
  const closed = await context.database.transaction(async (tx) => {
    if (!(await closeTransaction(tx, transaction, { outcome, ...place }))) return undefined
    const operations = await findOperations(tx, transaction.operationIds)
    await bookTransaction(tx, transaction, concluded, operations)
    const spentBy =
      outcome === 'reverted'
        ? await noteBurnt(tx, context, { transaction, operations, wei: paidWei })
        : undefined
    const ended = await Promise.all(
      operations.map(async (operation) => {
        const position = transaction.operationIds.indexOf(operation.id)
        const done = outcome === 'ok' && !failures?.has(position)
        const oneTry = !done && (await runsForeignCode(context, operation))
        const final = { outcome, oneTry, place: done ? place : undefined }
        return { operation, end: await end(tx, operation, final) }
      }),
    )
    return { ended, spentBy }
  })
  failpoint('relayer:final')
  for (const { hash } of transaction.attempts) context.memory.sent.delete(hash)
  if (!closed) return
  context.poke()
  if (closed.spentBy)
    context.log.error({ ...closed.spentBy, alarm: true }, 'wallet burnt its budget of gas')
  for (const { operation, end } of closed.ended) report(context, operation, end, place.txHash)
}

function outcomeOf(attempt: Attempt, receipt: Receipt): TransactionOutcome {
  if (attempt.purpose === 'noop') return 'noop'
  return receipt.status === 'success' ? 'ok' : 'reverted'
}

type Final = { outcome: TransactionOutcome; oneTry: boolean; place: Place | undefined }

/**
 * Without a place it is final that this transaction did not do it, so it waits, to be examined again
 * before it is sent again; a drip a while, because Monad reverts what takes from a lane's reserve.
 * What code of a user's made revert has failed: it would again.
 */
async function end(
  tx: Tx,
  operation: Operation,
  { outcome, oneTry, place }: Final,
): Promise<Ending> {
  if (place) {
    await settle(tx, operation, place)
    return 'settled'
  }
  const tries = operation.tries + 1
  const hopeless = oneTry ? outcome === 'reverted' : tries > doubtsMax
  if (hopeless) {
    await fail(tx, operation, 'reverted')
    return 'failed'
  }
  const restMs = operation.kind === 'drip' ? dripRestMs : 0
  const notBefore = fromNow(restMs)
  await moveOperation(tx, operation.id, 'waiting', { tries, notBefore }, ['assigned'])
  return 'waiting'
}

/** What a wallet can make revert calls nobody, until its budget of gas is burnt. */
function report(context: Context, { id, kind }: Operation, end: Ending, txHash: string) {
  const fields = { operationId: id, kind, txHash }
  if (end === 'settled') context.log.info(fields, 'operation settled')
  else if (end === 'waiting') context.log.warn(fields, 'operation reverted, examined again')
  else if (isUpToWallet(kind)) context.log.warn(fields, 'operation reverted for good')
  else context.log.error({ ...fields, alarm: true }, 'operation reverted for good')
}
