import type { Address } from 'viem'
import { backoffMs } from '#platform/backoff'
import { isRecent } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { pause } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { startLoop } from '#platform/loop'
import type { Endpoint } from './chain/endpoints'
import type { FinalizedHead } from './chain/head'
import { RpcFault } from './chain/rpc'
import { type Context, recordFault, recordSuccess } from './context'
import {
  beginGeneration,
  type GenerationCursor,
  liveCursors,
  markIncomplete,
  moveCursor,
  type ProjectionOrigin,
  promote,
} from './cursor.store'
import { type ChainEvent, walletsOf } from './event'
import { addEvents, lastEventBlock } from './event.store'
import { openMemoryBound } from './memory'
import { evolve, Incomplete } from './projection'
import { checkGenesis, continuing, readSpans } from './read'
import { extendTerms, type Standings, saveStandings } from './record.store'
import { openRemembered, type Remembered } from './remembered'

const noticeMs = 4_000

/**
 * Follows the serving generation and, during a rebuild, its successor. Calls `onForeign` if the stored projection is of
 * another contract or chain.
 */
export function startFollowing(context: Context, onForeign: (error: Error) => void): AsyncDisposable {
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

const isOf = (cursor: GenerationCursor, origin: ProjectionOrigin): boolean =>
  cursor.chainId === origin.chainId && cursor.contract === origin.contract && cursor.deployBlock === origin.deployBlock

type Following = {
  readonly context: Context
  readonly remembered: Remembered
  readonly boundMemory: (work: number) => void
  /** Next block to read, which is valid while the stored sequence is the same. */
  next: { readonly block: number; readonly sequence: number } | null
  /** A later head than the stored one, at which the contract has as many events. */
  unstored: Proof | null
  storedAtMs: number
}

/** A head at which the contract has as many events as are stored, and the time of the request for it, in Unix ms. */
type Proof = { readonly head: FinalizedHead; readonly atMs: number }

/**
 * Follows one generation. A block counts as read once the contract's `sequence()` there is the number of stored events.
 */
async function follow(context: Context, generation: number, signal: AbortSignal): Promise<void> {
  const { database, endpoints, pollMs } = context
  const following: Following = {
    context,
    remembered: openRemembered(),
    boundMemory: openMemoryBound(),
    next: null,
    unstored: null,
    storedAtMs: 0,
  }
  let cursor: GenerationCursor | undefined
  let incomplete = 0
  while (!signal.aborted) {
    const endpoint = endpoints.current()
    let waitMs = pollMs
    try {
      cursor ??= await cursorOf(database, generation)
      if (!cursor) return
      cursor = await step(following, cursor, endpoint)
      incomplete = 0
    } catch (error) {
      if (error instanceof Incomplete) {
        following.next = null
        waitMs = backoffMs({ firstMs: pollMs, maxMs: incompletePauseMaxMs }, incomplete++)
      } else if (isTooWide(error, endpoint)) waitMs = 0
      const record = (fault: unknown) => recordError(context, generation, endpoint, fault)
      record(error)
      if (cursor) await storeError(context, cursor, error, incomplete).catch(record)
      following.unstored = null
      cursor = undefined // This generation may have been retired.
    }
    await pause(waitMs, signal)
  }
}

const incompletePauseMaxMs = 5_000
/**
 * Interval in ms for storing blocks without events. These would be the only writes of an idle system, and after a
 * restart the blocks are read again.
 */
const restMs = 2_000

/** Makes one step. Returns undefined if another reader wrote first. */
async function step(following: Following, cursor: GenerationCursor, endpoint: Endpoint) {
  const { database, clock, lagMaxMs } = following.context
  const atMs = clock()
  await checkGenesis(database, cursor, endpoint)
  const head = await endpoint.readHead(cursor)
  recordSuccess(following.context, endpoint)
  if (!head) return following.unstored ? keepHead(following, cursor, following.unstored) : cursor
  const moved =
    head.sequence === cursor.sequence
      ? await keepHead(following, cursor, { head, atMs })
      : await catchUp(following, cursor, endpoint, head, atMs)
  if (moved?.state !== 'filling' || clock() - atMs > lagMaxMs) return moved
  const isPromoted = await database.transaction((tx) => promote(tx, moved.generation))
  return isPromoted ? { ...moved, state: 'serving' as const } : moved
}

/** Moves the cursor to a head at which nothing is missing, so no logs are read. */
async function keepHead(following: Following, cursor: GenerationCursor, proof: Proof) {
  const { database, clock } = following.context
  const isStored = isRecent(following.storedAtMs, clock(), restMs)
  if (cursor.state === 'serving' && cursor.complete && isStored) {
    following.unstored = proof
    const { block: blockNumber, hash: blockHash, atSeconds: blockTimeSeconds } = proof.head
    return { ...cursor, blockNumber, blockHash, blockTimeSeconds }
  }
  following.unstored = null
  following.storedAtMs = clock()
  const to = { sequence: cursor.sequence, ...proof }
  return (await database.run((db) => moveCursor(db, cursor, to))) ?? undefined
}

/**
 * Reads the next events while these are written. Throws `Incomplete` if the endpoint has fewer events than the
 * contract.
 */
async function catchUp(
  following: Following,
  cursor: GenerationCursor,
  endpoint: Endpoint,
  head: FinalizedHead,
  atMs: number,
): Promise<GenerationCursor | undefined> {
  const { context, boundMemory, next } = following
  const { database, clock } = context
  const first = next?.sequence === cursor.sequence ? next.block : await firstBlock(database, cursor)
  let at = cursor
  let reading = readSpans(endpoint, first, head)
  for (;;) {
    const { to, events } = await reading
    const fresh = continuing(at.sequence, events)
    const sequence = at.sequence + fresh.length
    if (sequence > head.sequence)
      throw new Incomplete(`the contract has fewer than ${sequence} events at block ${head.block}`)
    const isProven = sequence === head.sequence
    if (!isProven && to < head.block) {
      reading = readSpans(endpoint, to + 1, head)
      reading.catch(() => {}) // The result is awaited after the write.
    }
    if (fresh.length > 0) {
      const proof = isProven ? head : null
      const moved = await commitEvents(database, at, fresh, { head: proof, atMs }, following)
      if (!moved) return undefined
      at = moved
      following.unstored = null
      following.storedAtMs = clock()
      boundMemory(fresh.length)
    }
    if (isProven) return at
    if (to >= head.block) throw new Incomplete(`event ${sequence + 1} is missing`)
    following.next = { block: to + 1, sequence }
  }
}

/** Returns the first block to read. After an incomplete answer, the block of the last stored event is read again. */
async function firstBlock(database: Database, cursor: GenerationCursor): Promise<number> {
  if (cursor.complete) return cursor.blockNumber + 1
  const last = await database.read((db) => lastEventBlock(db, cursor.generation))
  return last ?? cursor.deployBlock
}

/**
 * Writes events, records and cursor in one transaction. Without a `head` as proof the record is not served. Returns
 * null if another reader was first; throws `Incomplete` if the events contradict the stored ones.
 */
export async function commitEvents(
  database: Database,
  cursor: Pick<GenerationCursor, 'generation' | 'sequence'>,
  events: readonly ChainEvent[],
  at: { head: FinalizedHead | null; atMs: number },
  { remembered }: { remembered: Remembered } = { remembered: openRemembered() },
): Promise<GenerationCursor | null> {
  const { generation } = cursor
  const sequence = cursor.sequence + events.length
  const extensions = events.filter((event) => event.name === 'TermsExtended')
  const written = await database.transaction(async (tx) => {
    const moved = await moveCursor(tx, cursor, { sequence, ...at })
    if (!moved) return null
    const before = await remembered.load(tx, generation, walletsOf(events), cursor.sequence)
    const standings = evolveAll(before, events)
    for (const extension of extensions) await extendTerms(tx, generation, extension)
    addEvents(tx, generation, events)
    saveStandings(tx, generation, standings)
    failpoint('indexer-reader:span-written')
    return { moved, standings }
  })
  if (!written) return null
  // An extension changed cycles in Postgres only, so nothing is kept in memory.
  if (extensions.length === 0) remembered.keep(written.standings, sequence)
  return written.moved
}

function evolveAll(standings: Standings, events: readonly ChainEvent[]): Standings {
  const apply = (wallet: Address, event: ChainEvent) => standings.set(wallet, evolve(standings.get(wallet)!, event))
  for (const event of events) {
    if (event.wallet) apply(event.wallet, event)
    else for (const wallet of standings.keys()) apply(wallet, event)
  }
  return standings
}

const isTooWide = (error: unknown, endpoint: Endpoint): boolean =>
  error instanceof RpcFault && error.kind === 'range' && endpoint.range().blocks > 1

function recordError(context: Context, generation: number, endpoint: Endpoint, error: unknown): void {
  const { figures, log } = context
  if (error instanceof Incomplete) figures.incomplete += 1
  if (error instanceof RpcFault || error instanceof Incomplete) {
    recordFault(context, endpoint, error)
  } else {
    figures.lastError = (error as Error).message
    log.warn({ err: error, generation }, 'reader step failed, will retry')
  }
}

async function storeError(context: Context, cursor: GenerationCursor, error: unknown, incomplete: number) {
  const { database } = context
  // A single incomplete answer may only have been early.
  if (error instanceof Incomplete && incomplete > 1) await database.run((db) => markIncomplete(db, cursor))
}

const cursorOf = async (database: Database, generation: number) =>
  (await database.read(liveCursors)).find((cursor) => cursor.generation === generation)
