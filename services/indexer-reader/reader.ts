import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { beginGeneration, type Cursor, liveCursors, type Origin } from './cursor.store.ts'
import { type ChainIdentity, openEndpoint } from './endpoint.ts'
import { openEndpoints } from './endpoints.ts'
import { type Figures, noFigures } from './figures.ts'
import { type Following, follow } from './follower.ts'

export type ReaderOptions = {
  database: Database
  rpcUrls: readonly string[]
  identity: ChainIdentity
  deployBlock: number
  logsRangeMax: number
  pollMs: number
  clock: Clock
  log: Log
}

export type Reader = {
  readonly figures: Figures
  readonly origin: Origin
  /** Until the signal fires. Throws when what is stored is of another contract or chain. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** How soon a generation that `rebuild` asked for is noticed. */
const noticeMs = 500

/** Follows every live generation: the one that serves and, while it fills, its successor. */
export function openReader(options: ReaderOptions): Reader {
  const { database, identity, clock, log } = options
  const figures = noFigures()
  const endpoints = openEndpoints(
    options.rpcUrls.map((url) => openEndpoint(url, identity, options.logsRangeMax, clock)),
    clock,
  )
  const origin = {
    chainId: identity.chainId,
    contract: identity.contract,
    deployBlock: options.deployBlock,
  }
  const parts: Following = { database, endpoints, log, clock, pollMs: options.pollMs, figures }
  const followed = new Map<number, Promise<void>>()
  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      for (const { generation } of await toFollow(database, origin, log)) {
        if (followed.has(generation)) continue
        log.info({ generation }, 'generation followed')
        const ended = follow(parts, generation, signal)
        followed.set(
          generation,
          ended.finally(() => followed.delete(generation)),
        )
      }
      await pause(noticeMs, signal)
    }
    await Promise.all(followed.values())
  }
  return { figures, origin, run }
}

export const isOf = (cursor: Cursor, origin: Origin): boolean =>
  cursor.chainId === origin.chainId &&
  cursor.contract === origin.contract &&
  cursor.deployBlock === origin.deployBlock

async function toFollow(database: Database, origin: Origin, log: Log): Promise<Cursor[]> {
  try {
    const live = await database.read(liveCursors)
    const ours = live.filter((cursor) => isOf(cursor, origin))
    if (ours.length > 0) return ours
    if (live.length === 0) {
      await beginGeneration(database, origin)
      return []
    }
  } catch (error) {
    log.warn({ err: error }, 'generations could not be read')
    return []
  }
  throw new Error(
    'the stored projection is of another chain, contract or deploy block: check CHAIN_ID, ' +
      'CREDIT_LINE_ADDRESS and DEPLOY_BLOCK, or run services/indexer-reader/rebuild.ts',
  )
}
