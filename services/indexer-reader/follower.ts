import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type Cursor, confirmTo, liveCursors } from './cursor.store.ts'
import type { Endpoint } from './endpoint.ts'
import type { Endpoints } from './endpoints.ts'
import { type Figures, noteEndpoint } from './figures.ts'
import { openMemoryBound } from './memory.ts'
import { commitSpans } from './projection.store.ts'
import { Impossible } from './projection.ts'
import { RpcFault } from './rpc-fault.ts'
import { identifyAs } from './same-chain.ts'
import { lookAgain } from './second-look.ts'
import { readWindow, type Window } from './window.ts'

export type Following = {
  readonly database: Database
  readonly endpoints: Endpoints
  readonly log: Log
  readonly clock: Clock
  readonly pollMs: number
  readonly figures: Figures
}

/**
 * Follows the chain for one generation until it is retired or the signal fires. Every step is one
 * window of blocks from one endpoint, written in one transaction; the next window is read meanwhile.
 */
export async function follow(
  parts: Following,
  generation: number,
  signal: AbortSignal,
): Promise<void> {
  const { database, log, pollMs } = parts
  let ahead: Ahead | null = null
  const boundMemory = openMemoryBound()
  let impossible = 0
  while (!signal.aborted) {
    try {
      const cursor = await cursorOf(database, generation)
      if (!cursor) return
      const read: Promise<Window> =
        ahead?.after === cursor.blockNumber ? ahead.window : look(parts, cursor)
      ahead = null
      const window = await read
      if (window.spans.length === 0) {
        await pause(await standStill(parts, cursor, window), signal)
        continue
      }
      ahead = readAhead(window)
      const moved = await write(parts, generation, window, ahead === null)
      boundMemory(window.spans.reduce((sum, span) => sum + span.events.length, 0))
      impossible = 0
      if (ahead !== null) continue
      // A chain with a new block at every poll never lets the follower stand still.
      if (moved && !window.fault) await lookAgain(parts, moved, 'leisurely')
      await pause(pollMs, signal)
    } catch (error) {
      ahead = null
      parts.figures.lastError = (error as Error).message
      if (error instanceof Impossible) await distrust(parts, generation, error, ++impossible)
      else log.warn({ err: error, generation }, 'step failed')
      await pause(impossible > 3 ? stuckPauseMs : pollMs, signal)
    }
  }
}

type Ahead = { after: number; window: Promise<Window> }

/** Starts reading what follows, unless the window reached the head. */
function readAhead({ endpoint, spans, fault }: Window): Ahead | null {
  const last = spans.at(-1)!
  if (last.to >= last.finalized || fault) return null
  return { after: last.to, window: readWindow(endpoint, { block: last.to, hash: last.hash }) }
}

async function write(parts: Following, generation: number, window: Window, caughtUp: boolean) {
  const { endpoint, spans, fault } = window
  const nowMs = parts.clock()
  const at = { caughtUp: caughtUp && !fault, nowMs }
  const moved = await commitSpans(parts.database, generation, spans, at)
  saw(parts, endpoint)
  if (fault) note(parts, endpoint, fault)
  return moved
}

/** There was nothing to write: either nothing is new, or the endpoint failed. Says how long to wait. */
async function standStill(parts: Following, cursor: Cursor, { endpoint, fault }: Window) {
  if (!fault) {
    saw(parts, endpoint)
    await lookAgain(parts, cursor, 'leisurely')
    return parts.pollMs
  }
  note(parts, endpoint, fault)
  const narrower = fault instanceof RpcFault && fault.kind === 'range'
  return narrower && endpoint.range().blocks > 1 ? 0 : parts.pollMs
}

/** A hole that nothing fills needs a person; meanwhile the chain is asked now and then. */
const stuckPauseMs = 5_000

const cursorOf = async (database: Database, generation: number): Promise<Cursor | undefined> =>
  (await database.read(liveCursors)).find((cursor) => cursor.generation === generation)

/** Makes sure that the endpoint is our chain before anything it says is used. */
async function look({ database, endpoints }: Following, cursor: Cursor): Promise<Window> {
  const endpoint = endpoints.current()
  try {
    await identifyAs(database, cursor, endpoint)
  } catch (fault) {
    return { endpoint, spans: [], fault }
  }
  return readWindow(endpoint, { block: cursor.blockNumber, hash: cursor.blockHash })
}

/**
 * An impossible step proves that an answer lacked an event: this one or an earlier one. First this
 * span is asked of another endpoint, then what is not confirmed yet is looked at again, then all.
 */
async function distrust(
  parts: Following,
  generation: number,
  error: Impossible,
  times: number,
): Promise<void> {
  const { database, endpoints, log } = parts
  const { wallet, blockNumber } = error.event
  log.error({ err: error, wallet, blockNumber, times }, 'events did not follow from each other')
  if (times === 1) return endpoints.blame(endpoints.current(), error)
  let cursor = await cursorOf(database, generation)
  if (cursor && times === 3) {
    const confirmedTo = cursor.deployBlock - 1
    await database.read((db) => confirmTo(db, generation, confirmedTo))
    cursor = { ...cursor, confirmedTo }
  }
  while (cursor && (await lookAgain(parts, cursor, 'urgently'))) {
    cursor = await cursorOf(database, generation)
  }
}

function saw({ figures, clock }: Following, endpoint: Endpoint) {
  figures.lastOkAtMs = clock()
  noteEndpoint(figures, endpoint)
}

function note({ endpoints, figures, log }: Following, endpoint: Endpoint, fault: unknown) {
  const { message } = fault as Error
  endpoints.blame(endpoint, fault)
  noteEndpoint(figures, endpoint)
  // An endpoint that is away fails several times a second: one line per kind of trouble.
  if (figures.lastError !== message)
    log.warn({ endpoint: endpoint.host, fault: message }, 'endpoint failed')
  figures.lastError = message
}
