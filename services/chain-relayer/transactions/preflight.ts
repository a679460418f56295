import type { Hex } from 'viem'
import { ageMs, toUnixSeconds } from '#platform/clock'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { isRefillDue } from '#shared/chain/refill'
import { isAuthorizationUsed } from '../chain/authorization'
import type { ChainSnapshot } from '../chain/chain-snapshot'
import { type AfterRevert, afterRevert, doubtsMax, revertOf } from '../chain/errors'
import { multicall3 } from '../chain/multicall'
import type { Head } from '../chain/node'
import type { Context } from '../context'
import type { CallToSign, Fees } from '../keys/keys'
import { type PolicyRefusal, spendsOfCall } from '../keys/policy'
import { useOf } from '../operations/authorization-search'
import { isUpToWallet, isVerdict, lapsesSoon, type PayloadOf, payerOf, transferRestMs } from '../operations/operation'
import { blockOfRef, newestRevision, postponeOperation } from '../operations/operation.store'
import type { Operation } from '../operations/operation.table'
import { giveUp, settle } from '../operations/order'
import { otherDrips } from '../operations/wallet.store'
import { checkOwed } from '../unsolicited-deposits/giveback'
import { costWei, type Funds, fundsFor } from './funding'
import { isSigned, runsForeignCode, transactionCall, transferTerms } from './transaction'

export type Fit = {
  readonly call: CallToSign
  readonly funds?: Funds | undefined
  /** The only lane that may send the call; any lane may if it is omitted. */
  readonly only?: `0x${string}` | undefined
}

export type RoundTerms = {
  /** Returns the lane that would send a call of this cost, in wei. */
  readonly senderOf: (costWei: bigint) => `0x${string}`
  /** Returns true if a lane can pay a call with this gas limit. */
  readonly canSend: (gas: bigint) => boolean
  /** False if the credit line refuses every lane. Batches would revert, as they are not examined. */
  readonly mayBatch: boolean
  readonly fees: Fees
  readonly newest: ChainSnapshot['newest']
}

const waitMs = 15_000
/** Rest while a search runs, in ms. The end of the search makes the operation due at once. */
const searchedMs = 5_000
/** Shortest rest while the newest and the finalized state disagree, in ms. */
const unsettledMs = 500

/**
 * Examines an operation before it gets a nonce, as a revert costs the whole gas limit. Returns
 * undefined if it ended here or must wait. Throws `PolicyRefused`, before any simulation, if no key
 * would sign it.
 */
export async function preflight(context: Context, operation: Operation, terms: RoundTerms): Promise<Fit | undefined> {
  const { fees, newest } = terms
  if (await isNeedless(context, operation)) {
    await context.database.transaction((tx) => settle(tx, operation, null))
    context.log.info({ operationId: operation.id, kind: operation.kind }, 'operation needs no transaction')
    context.poke()
    return undefined
  }
  if (runsOut(context, operation, newest)) {
    await lookUp(context, operation)
    return undefined
  }
  // guard: a try to repay a cycle takes nothing for a later one
  if (operation.kind === 'autorepay' && (await isClosed(context, operation.payload))) {
    await giveUp(context, operation, 'nothing_due', false)
    return undefined
  }
  if (operation.kind === 'giveback') {
    const owed = await checkOwed(context, operation.payload)
    const restMs = owed === 'unsettled' ? unsettledMs : waitMs
    if (owed !== 'owed')
      return void (await context.database.run((db) => postponeOperation(db, operation.id, restMs, 0)))
  }
  const foreign = await runsForeignCode(context, operation)
  const call = await transactionCall(context, operation, foreign)
  spendsOfCall(context.policy, 0, call)
  const from = terms.senderOf(costWei(call, fees))
  if (operation.kind === 'drip' && !(await canAfford(context, operation, from))) return undefined
  const expected = await foresee(context, operation, { call, from, fees, foreign })
  if (expected === 'send') {
    const only = foreign ? from : undefined
    return { call, only, funds: await fundsFor(context, operation) }
  }
  await waitOrEnd(context, operation, expected)
  return undefined
}

/** Returns the rest of an operation on which the newest and the finalized state disagree, in ms. */
export const unsettledRestMs = ({ clock }: Pick<Context, 'clock'>, { kind, createdAt }: Operation): number =>
  payerOf(kind) === 'user' ? transferRestMs(ageMs(createdAt, clock())) : unsettledMs

/** Returns true if the authorization is about to expire by our clock or the chain's. */
export function runsOut({ clock }: Context, operation: Operation, newest: ChainSnapshot['newest']): boolean {
  if (!isSigned(operation)) return false
  const ours = BigInt(toUnixSeconds(clock()))
  const now = newest.timestamp > ours ? newest.timestamp : ours
  return lapsesSoon(operation.payload.authorization, now)
}

async function isNeedless(context: Context, operation: Operation): Promise<boolean> {
  const { database, node, settings } = context
  // guard: of two verdicts on a wallet, the newest counts
  if (isVerdict(operation.kind))
    return (await database.read((db) => newestRevision(db, operation))) > operation.revision!
  if (operation.kind === 'extend') return isExtended(context, operation.payload)
  if (operation.kind !== 'drip') return false
  if (operation.payload.refill !== undefined) {
    // Rows are read first, so that the coin of a drip that has ended since is in the account.
    const { given, isGivenToday, isAnyOpen } = await database.read((db) => otherDrips(db, operation))
    // guard: a wallet gets one refill a day
    return isGivenToday || isAnyOpen || !isRefillDue(await context.account(operation.wallet), given)
  }
  const heldWei = await node.reader.getBalance({ address: operation.wallet })
  return heldWei >= settings.dripBelowWei
}

/** Returns true if a later cycle of the wallet is open, as after an order that waited for long. */
async function isClosed(context: Context, { wallet, cycle }: PayloadOf<'autorepay'>): Promise<boolean> {
  const { cycle: open } = await context.account(wallet as Hex)
  return open !== null && open.number > cycle
}

/** Returns true if the hold ends later than `until`, its end at the time of the order. */
async function isExtended({ node, contracts }: Context, { refId, until }: PayloadOf<'extend'>) {
  const { number: blockNumber } = await node.finalizedHead()
  const [, , , , endsAt] = await node.reader.readContract({
    address: contracts.creditLine,
    abi: creditLineAbi,
    functionName: 'holdOf',
    args: [refOf(refId)],
    blockNumber,
  })
  return endsAt > BigInt(until)
}

async function canAfford(context: Context, operation: Operation, lane: `0x${string}`) {
  const { dripWei, laneMinBalanceWei } = context.settings
  const balanceWei = await context.node.reader.getBalance({ address: lane })
  if (balanceWei - dripWei >= laneMinBalanceWei && balanceWei > dripWei) return true
  const fields = { lane, balanceWei: String(balanceWei) }
  context.logThrottled.alarm(`drips:${lane}`, fields, 'lane balance too low for drips: fund it')
  await context.database.run((db) => postponeOperation(db, operation.id, waitMs, 0))
  return false
}

/**
 * Simulates a call with the same sender, gas and fees, which a contract can see. A refusal counts only if the finalized
 * state gives the same reason. If the simulation itself fails, the call is sent, since a revert costs only gas; a call
 * that runs user-controlled code waits.
 */
async function foresee(
  context: Context,
  operation: Operation,
  { call, from, fees, foreign }: { call: CallToSign; from: `0x${string}`; fees: Fees; foreign: boolean },
): Promise<AfterRevert | 'send' | 'unsettled'> {
  const { to, data, valueWei: value, gas } = call
  const request = { from, to, data, value, gas, fees }
  try {
    const newest = await context.node.call(request, 'latest')
    if (!('reverted' in newest)) return 'send'
    const head = await context.node.finalizedHead()
    if (operation.kind === 'autorepay' && isOlder(head, operation)) return 'unsettled'
    const settled = await context.node.call(request, head.number)
    const { treasury, contracts, keys } = context
    const ours = [treasury.address, contracts.creditLine, contracts.ausd, multicall3]
    const lanes = keys.map(({ address }) => address)
    const revert = revertOf(newest.reverted, ours, lanes)
    if (!('reverted' in settled) || revertOf(settled.reverted, ours, lanes) !== revert) return 'unsettled'
    if (revert === 'not_held' && (await isBehind(context, operation, head.number))) return 'unsettled'
    return afterRevert(revert, payerOf(operation.kind))
  } catch (error) {
    context.log.debug({ err: error, operationId: operation.id }, 'operation simulation failed')
    return foreign ? 'unsettled' : 'send'
  }
}

/**
 * Returns true if a block is older than an order. The service that ordered may have seen a newer state than the endpoint,
 * such as a permission or the first second in which it counts.
 */
const isOlder = ({ timestamp }: Head, { createdAt }: Operation): boolean =>
  timestamp < BigInt(toUnixSeconds(createdAt.getTime()))

/** Returns true if the endpoint lags behind the payment and cannot see its hold. */
async function isBehind({ database }: Context, { payload }: Operation, blockNumber: bigint) {
  if (!('refId' in payload)) return false
  return blockNumber < (await database.read((db) => blockOfRef(db, payload.refId)))
}

async function waitOrEnd(context: Context, operation: Operation, expected: AfterRevert | 'unsettled') {
  const { database } = context
  const { id, kind } = operation
  const postpone = (ms: number, tries: 0 | 1 = 0) => database.run((db) => postponeOperation(db, id, ms, tries))
  if (expected === 'unsettled') return postpone(unsettledRestMs(context, operation))
  if (expected.do === 'look_up') return lookUp(context, operation)
  if (expected.do === 'doubt' && operation.tries < doubtsMax) return postpone(2_000, 1)
  if (expected.do === 'wait') {
    const level = expected.alarm ? 'alarm' : 'warn'
    const fields = { operationId: id, kind }
    context.logThrottled[level](`wait:${kind}`, fields, 'operation blocked: treasury, pause, freeze or role')
    // At first the rest is short, so that an instance with another lane soon finds the operation due.
    if (expected.otherLane)
      return postpone(Math.min(waitMs, transferRestMs(ageMs(operation.createdAt, context.clock()))))
    return postpone(expected.alarm ? waitMs : unsettledRestMs(context, operation))
  }
  if (expected.do === 'fail') return giveUp(context, operation, expected.reason, expected.alarm)
  // An automatic repayment runs no code of the wallet, and what its wallet can cause has a name.
  const isOurs = kind === 'autorepay' || !isUpToWallet(kind)
  return giveUp(context, operation, 'reverted', isOurs)
}

/** Fails an operation that no key may sign. One above a limit waits until the next day or for an operator. */
export async function holdRefused(
  context: Context,
  operation: Operation,
  { why, by }: PolicyRefusal,
): Promise<undefined> {
  const { id, kind } = operation
  if (by === 'never') {
    await giveUp(context, operation, 'policy_refused', true)
    return
  }
  const fields = { operationId: id, kind, why }
  context.logThrottled.alarm(`policy:${kind}`, fields, 'policy refused an operation, needs manual review')
  // At first the rest is short, so that an instance whose lane has not reached its limit soon finds the operation due.
  const restMs = transferRestMs(ageMs(operation.createdAt, context.clock()))
  await context.database.run((db) => postponeOperation(db, id, restMs, 0, 'policy_refused'))
}

/** Decides from finalized blocks whether the transfer is done. One submitted by a third party counts as done. */
async function lookUp(context: Context, operation: Operation): Promise<void> {
  const postpone = (ms: number) => context.database.run((db) => postponeOperation(db, operation.id, ms, 0))
  const terms = transferTerms(context, operation)
  if (!terms) return void (await postpone(5_000))
  const head = await context.node.finalizedHead()
  if (!(await isAuthorizationUsed(context, terms, head))) {
    if (payerOf(operation.kind) === 'user' && head.timestamp >= BigInt(terms.validBefore))
      return giveUp(context, operation, 'authorization_expired', false)
    return void (await postpone(500))
  }
  const use = useOf(context, operation, terms, head)
  if (use === undefined) return void (await postpone(searchedMs))
  // guard: a cancelled transfer is not taken for one that was done
  if (use === 'cancelled') return giveUp(context, operation, 'authorization_cancelled', false)
  if (use === 'used_elsewhere') return giveUp(context, operation, 'authorization_used_elsewhere', true)
  if (use === 'unknown') {
    context.logThrottled.alarm(`use:${operation.id}`, { operationId: operation.id }, 'authorization use not found')
    return void (await postpone(5_000))
  }
  await context.database.transaction((tx) => settle(tx, operation, use.used))
  context.log.info({ operationId: operation.id, txHash: use.used.txHash }, 'operation done by a foreign transaction')
  context.poke()
}
