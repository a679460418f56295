import type { Database } from '#shared/db/open'
import { pause } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { startLoop } from '#shared/loop'
import { OtherBlocks, RpcFault } from './chain/rpc'
import type { Span } from './chain/span'
import { type Context, noteFault, noteSuccess } from './context'
import {
  beginGeneration,
  type Cursor,
  confirmTo,
  findCursor,
  giveUpFilling,
  liveCursors,
  moveCursor,
  type Origin,
  promote,
} from './cursor.store'
import { walletsOf } from './event'
import { addEvents } from './event.store'
import { openMemoryBound } from './memory'
import { evolve, Impossible, whole } from './projection'
import { openQuiet } from './quiet'
import { type Batch, readBatch, readNext } from './read'
import { recheck } from './recheck'
import { saveStandings } from './record.store'
import { openRemembered, type Remembered } from './remembered'

/** Interval for noticing a generation requested by `rebuild`. */
const noticeMs = 4_000

/**
 * Follows every live generation until disposed: the serving one and, during a rebuild, its
 * successor. Calls `onForeign` if the stored projection is of another contract or chain.
 */
export function startFollowing(
  context: Context,
  onForeign: (error: Error) => void,
): AsyncDisposable {
  const { database, origin, log } = context
  const followed = new Map<number, Promise<void>>()
  const loop = startLoop({
    name: 'generations',
    everyMs: noticeMs,
    log,
    work: async (signal) => {
      let live = await database.read(liveCursors)
      if (live.length === 0) {
        await beginGeneration(database, origin)
        live = await database.read(liveCursors)
      }
      const ours = live.filter((cursor) => isOf(cursor, origin))
      if (ours.length === 0) onForeign(new Error(foreign))
      for (const { generation } of ours) {
        if (followed.has(generation)) continue
        log.info({ generation }, 'following generation')
        const ended = follow(context, generation, signal)
        followed.set(
          generation,
          ended.finally(() => followed.delete(generation)),
        )
      }
    },
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await Promise.all(followed.values())
    },
  }
}

const foreign =
  'the stored projection is of another chain, contract or deploy block: check CHAIN_ID, ' +
  'CREDIT_LINE_ADDRESS and DEPLOY_BLOCK, or run services/indexer-reader/rebuild.ts'

const isOf = (cursor: Cursor, origin: Origin): boolean =>
  cursor.chainId === origin.chainId &&
  cursor.contract === origin.contract &&
  cursor.deployBlock === origin.deployBlock

/** Retry interval for a hole that no endpoint fills, which needs manual review. */
const holePauseMs = 5_000

/**
 * Follows the chain for one generation until it is retired or the signal fires. Every step is one
 * batch of spans from one endpoint, written in one transaction while the next is read.
 */
async function follow(context: Context, generation: number, signal: AbortSignal): Promise<void> {
  const { database, log, pollMs } = context
  let ahead: Ahead | null = null
  let known: Cursor | undefined
  const remembered = openRemembered()
  const boundMemory = openMemoryBound()
  const quiet = openQuiet(context.clock)
  let impossible = 0
  while (!signal.aborted) {
    try {
      if (!known) quiet.forget()
      const cursor: Cursor | undefined = known ?? (await cursorOf(database, generation))
      known = undefined
      if (!cursor) return
      const read: Promise<Batch> =
        ahead?.after === cursor.blockNumber ? ahead.batch : readNext(context, cursor)
      ahead = null
      const batch = await read
      if (batch.spans.length === 0 && (batch.fault || !quiet.isDue())) {
        // After a fault the cursor is read again: this generation may have been retired.
        if (!batch.fault && !quiet.isEmpty()) known = cursor
        await pause(await writeNothing(context, cursor, batch), signal)
        continue
      }
      ahead = batch.spans.length === 0 ? null : readAhead(batch)
      if (ahead === null && isQuiet(cursor, batch) && quiet.keep(batch.spans)) {
        noteSuccess(context, batch.endpoint)
        known = movedTo(cursor, batch.spans.at(-1)!)
        await pause(pollMs, signal)
        continue
      }
      const spans = quiet.take(batch.spans)
      const moved = await write(
        context,
        generation,
        { ...batch, spans },
        ahead === null,
        remembered,
      )
      boundMemory(batch.spans.reduce((sum, span) => sum + span.events.length, 0))
      impossible = 0
      if (ahead !== null) continue
      // Rechecked here too: on a fast chain every poll has something to write.
      const changed = moved && !batch.fault && (await recheck(context, moved, 'routine'))
      if (moved && !changed) known = moved
      await pause(pollMs, signal)
    } catch (error) {
      ahead = null
      context.figures.lastError = (error as Error).message
      if (error instanceof Impossible) await fillHole(context, generation, error, ++impossible)
      else log.warn({ err: error, generation }, 'reader step failed, will retry')
      await pause(impossible > 3 ? holePauseMs : pollMs, signal)
    }
  }
}

/** Returns true for a serving generation if the batch has no events and no fault. */
const isQuiet = ({ state }: Cursor, { spans, fault }: Batch): boolean =>
  state === 'serving' && !fault && spans.every(({ events }) => events.length === 0)

const movedTo = (cursor: Cursor, { to, hash, atSeconds }: Span): Cursor => ({
  ...cursor,
  ...{ blockNumber: to, blockHash: hash, blockTimeSeconds: atSeconds },
})

const cursorOf = async (database: Database, generation: number): Promise<Cursor | undefined> =>
  (await database.read(liveCursors)).find((cursor) => cursor.generation === generation)

type Ahead = { after: number; batch: Promise<Batch> }

/**
 * Starts reading the next batch, unless this one reached the head as of its start. Newer blocks are
 * left to the next step; otherwise a slow endpoint would never catch up.
 */
function readAhead({ endpoint, spans, fault, isLast }: Batch): Ahead | null {
  const last = spans.at(-1)!
  if (isLast || fault) return null
  const position = { block: last.to, hash: last.hash }
  return { after: last.to, batch: readBatch(endpoint, position, last.finalized) }
}

async function write(
  context: Context,
  generation: number,
  batch: Batch,
  caughtUp: boolean,
  remembered: Remembered,
) {
  const { endpoint, spans, fault } = batch
  const at = { caughtUp: caughtUp && !fault, nowMs: context.clock() }
  const moved = await commitSpans(context.database, generation, spans, at, remembered)
  noteSuccess(context, endpoint)
  if (fault) noteFault(context, endpoint, fault)
  return moved
}

/**
 * Writes events, standings and cursor in one transaction. Returns null if another reader of the
 * same generation was first. Throws `Impossible` if the events contradict the stored ones.
 */
export async function commitSpans(
  database: Database,
  generation: number,
  spans: readonly Span[],
  at: { caughtUp: boolean; nowMs: number },
  remembered: Remembered = openRemembered(),
): Promise<Cursor | null> {
  const events = spans.flatMap((span) => span.events)
  const step = {
    first: spans[0]!,
    last: spans.at(-1)!,
    events: events.length,
    movedAt: new Date(at.nowMs),
  }
  const serves = ({ state }: Cursor) => state === 'filling' && at.caughtUp
  // Most blocks have no events of ours; a single statement needs no transaction.
  if (events.length === 0) {
    const moved = await database.run((db) => moveCursor(db, generation, step))
    if (moved && serves(moved)) await database.transaction((tx) => promote(tx, generation))
    return moved
  }
  const written = await database.transaction(async (tx) => {
    const moved = await moveCursor(tx, generation, step)
    if (!moved) return null
    const before = moved.eventCount - events.length
    const standings = await remembered.load(tx, generation, walletsOf(events), before)
    for (const event of events) {
      standings.set(event.wallet, evolve(standings.get(event.wallet)!, event))
    }
    for (const standing of standings.values()) whole(standing)
    // Pipelined: the next statement is encoded while the last is executed.
    await Promise.all([addEvents(tx, generation, events), saveStandings(tx, generation, standings)])
    failpoint('indexer-reader:span-written')
    if (serves(moved)) await promote(tx, generation)
    return { moved, standings }
  })
  if (!written) return null
  remembered.keep(written.standings, written.moved.eventCount)
  return written.moved
}

/** Handles a batch without spans: nothing new, or a fault. Returns the wait in ms. */
async function writeNothing(context: Context, cursor: Cursor, { endpoint, fault }: Batch) {
  if (!fault) {
    noteSuccess(context, endpoint)
    await recheck(context, cursor, 'routine')
    return context.pollMs
  }
  noteFault(context, endpoint, fault)
  if (fault instanceof OtherBlocks && context.isShortened && (await readAnew(context, cursor)))
    context.log.warn({ generation: cursor.generation }, 'chain was rolled back, rebuild started')
  const narrower = fault instanceof RpcFault && fault.kind === 'range'
  return narrower && endpoint.range().blocks > 1 ? 0 : context.pollMs
}

/** Replaces a generation whose blocks are gone; returns false if one is already being filled. */
async function readAnew({ database, origin }: Context, { generation, state }: Cursor) {
  if (state === 'filling') await database.run((db) => giveUpFilling(db, generation))
  else if (await database.read((db) => findCursor(db, 'filling'))) return false
  await beginGeneration(database, origin)
  return true
}

/**
 * Handles an impossible event, which proves that this or an earlier answer omitted one. First the
 * span is read from another endpoint, then all unconfirmed spans are rechecked, then everything.
 */
async function fillHole(
  context: Context,
  generation: number,
  error: Impossible,
  times: number,
): Promise<void> {
  const { database, endpoints, log } = context
  const { wallet, blockNumber } = error.event
  log.error({ err: error, wallet, blockNumber, times }, 'inconsistent events, will recheck')
  if (times === 1) return endpoints.blame(endpoints.current(), error)
  let cursor = await cursorOf(database, generation)
  if (cursor && times === 3) {
    const confirmedTo = cursor.deployBlock - 1
    await database.run((db) => confirmTo(db, generation, confirmedTo))
    cursor = { ...cursor, confirmedTo }
  }
  while (cursor && (await recheck(context, cursor, 'all'))) {
    cursor = await cursorOf(database, generation)
  }
}
