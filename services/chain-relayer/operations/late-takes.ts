import pMap from 'p-map'
import type { Hex } from 'viem'
import { type Loop, startLoop } from '#platform/loop'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { Head } from '../chain/node'
import type { Context } from '../context'
import { useOf } from './authorization-search'
import { findCursor } from './cursor.store'
import { endWatch, takeWatched, type Watched } from './operation.store'
import { settleLate } from './order'
import { followTransfers } from './treasury-transfers'

const rowsMax = 256
const checkAtOnce = 4
/**
 * Time after which a failed transfer is no longer watched, in seconds. The scan of the treasury finds takes after that.
 */
const watchMaxSeconds = 60n * 60n
/** Margin past `validBefore` in block time, in seconds, because endpoints differ. */
const marginSeconds = 60n

/** Settles failed takes and sends whose transfer happened after all. Returns true if more may be due. */
export async function settleLateTakes(context: Context, watchMs: number): Promise<boolean> {
  const due = await context.database.run((db) => takeWatched(db, rowsMax, watchMs))
  if (due.length === 0) return false
  const head = await context.node.finalizedHead()
  const used = await usedAt(context, due, head)
  const next = await context.database.read(findCursor)
  // The treasury scan reads all blocks after this head.
  const isFollowed = next !== undefined && next <= head.number + 1n
  const checkOne = (transfer: Watched) =>
    check(context, transfer, { used: used.get(transfer.id), head, isFollowed }).catch((error) =>
      context.logThrottled.warn('watch', { err: error }, 'failed transfer check failed, will retry'),
    )
  await pMap(due, checkOne, { concurrency: checkAtOnce })
  return due.length === rowsMax
}

async function usedAt(
  { node, contracts }: Context,
  takes: readonly Watched[],
  head: Head,
): Promise<Map<string, boolean>> {
  const answers = await node.reader.multicall({
    contracts: takes.map(({ payload: { authorization } }) => ({
      address: contracts.ausd,
      abi: ausdAbi,
      functionName: 'authorizationState' as const,
      args: [authorization.from as Hex, authorization.nonce as Hex] as const,
    })),
    blockNumber: head.number,
    allowFailure: true,
  })
  const read = takes.map(({ id }, position) => [id, answers[position]!.result] as const)
  return new Map(read.filter((one): one is readonly [string, boolean] => one[1] !== undefined))
}

async function check(
  context: Context,
  transfer: Watched,
  { used, head, isFollowed }: { used: boolean | undefined; head: Head; isFollowed: boolean },
): Promise<void> {
  const { database, log } = context
  const { id, kind, cause, payload, updatedAt } = transfer
  const { authorization } = payload
  const fields = { operationId: id, cause }
  if (used === undefined) throw new Error('authorizationState reverted')
  const failedAt = BigInt(Math.floor(updatedAt.getTime() / 1_000))
  const watchedEnough = (isFollowed || kind === 'send') && head.timestamp >= failedAt + watchMaxSeconds
  if (!used) {
    const lapsed = head.timestamp >= BigInt(authorization.validBefore) + marginSeconds
    if (!lapsed && !watchedEnough) return
    if (await database.run((db) => endWatch(db, id)))
      log.info({ ...fields, lapsed }, `authorization of a failed ${kind} still unused, watch ended`)
    return
  }
  const use = useOf(context, transfer, authorization, head)
  if (use === undefined) return // The search is still running.
  if (use === 'unknown') {
    if (kind === 'take') return context.logThrottled.alarm(`use:${id}`, fields, 'authorization use not found')
    if (!watchedEnough) return // An endpoint may lack the receipt for a while.
  }
  if (typeof use === 'string') {
    if (!(await database.run((db) => endWatch(db, id)))) return
    // The nonce of a send is its wallet's own affair.
    if (kind === 'take' && use === 'used_elsewhere') log.alarm(fields, 'authorization of a failed take used elsewhere')
    else log.info({ ...fields, use }, `authorization of a failed ${kind} is over`)
    return
  }
  if (!(await database.transaction((tx) => settleLate(tx, transfer, use.used)))) return
  log.warn({ ...fields, txHash: use.used.txHash }, `failed ${kind} settled late`)
  context.poke()
}

export const watchLateTakes = (context: Context, watchMs: number): Loop =>
  startLoop({
    name: 'watch',
    everyMs: watchMs,
    log: context.log,
    work: async (signal) => {
      let behind = true
      while (behind && !signal.aborted)
        behind = await followTransfers(context).catch((error) => {
          context.logThrottled.warn('follow', { err: error }, 'treasury transfer scan failed, will retry')
          return false
        })
      let more = true
      while (more && !signal.aborted)
        more = await settleLateTakes(context, watchMs).catch((error) => {
          context.logThrottled.warn('watch', { err: error }, 'failed transfer watch failed, will retry')
          return false
        })
    },
  })
