import type { Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { pause } from '#shared/deadline'
import { findUse } from './lookup'
import type { Head } from './node'
import { settleLate } from './outcome.store'
import { inParallel } from './parallel'
import { complain, type Relayer } from './relayer'
import { endWatch, takeWatched, type Watched } from './watch.store'

const rowsMax = 256
const lookUpAtOnce = 4
/** The window is closed by the finalized block's own time; the margin is for endpoints that differ. */
const marginSeconds = 60n

/**
 * Looks once at failed takes whose authorization anybody may still put on the chain: AUSD that
 * arrives so is announced as settled, late. True when more of them may be due.
 */
export async function watchOnce(relayer: Relayer, watchMs: number): Promise<boolean> {
  const due = await takeWatched(relayer.database, rowsMax, watchMs)
  if (due.length === 0) return false
  const head = await relayer.node.finalizedHead()
  const used = await usedAt(relayer, due, head)
  await inParallel(due, lookUpAtOnce, (take) =>
    look(relayer, take, used.get(take.id), head).catch((error) =>
      complain(relayer, 'watch', { err: error }, 'failed take could not be looked at'),
    ),
  )
  return due.length === rowsMax
}

/** `authorizationState` of all of them at that very block; one that cannot be read is left out. */
async function usedAt(
  { node, contracts }: Relayer,
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

async function look(
  relayer: Relayer,
  take: Watched,
  used: boolean | undefined,
  head: Head,
): Promise<void> {
  const { authorization } = take.payload
  const fields = { operationId: take.id, cause: take.cause }
  if (used === undefined) throw new Error('authorizationState cannot be read')
  if (!used) {
    if (head.timestamp < BigInt(authorization.validBefore) + marginSeconds) return
    if (await relayer.database.read((db) => endWatch(db, take.id)))
      relayer.log.info(fields, 'authorization of a failed take lapsed unused')
    return
  }
  const use = await findUse(relayer, authorization, head, take.createdAt)
  if (use === 'unknown') {
    const alarm = { ...fields, alarm: true }
    return complain(relayer, `use:${take.id}`, alarm, 'use of an authorization was not found')
  }
  if (use === 'cancelled' || use === 'used_elsewhere') {
    if (!(await relayer.database.read((db) => endWatch(db, take.id)))) return
    if (use === 'cancelled') relayer.log.info(fields, 'authorization of a failed take cancelled')
    else
      relayer.log.error({ ...fields, alarm: true }, 'authorization of a failed take used elsewhere')
    return
  }
  if (!(await relayer.database.transaction((tx) => settleLate(tx, take, use.used)))) return
  relayer.log.warn({ ...fields, txHash: use.used.txHash }, 'failed take settled late')
  relayer.poke()
}

/** Looks at all of them every `watchMs` until disposed. */
export function startWatching(relayer: Relayer, watchMs: number): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      const more = await watchOnce(relayer, watchMs).catch((error) => {
        complain(relayer, 'watch', { err: error }, 'failed takes could not be watched')
        return false
      })
      if (!more) await pause(watchMs, stop.signal)
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
