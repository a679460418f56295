import { and, eq } from 'drizzle-orm'
import type { Address } from 'viem'
import { answering } from '#shared/bus/serve'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { IndexerRecord } from '#shared/messages/indexer'
import { ok, refuse } from '#shared/refusals'
import { lagMs, mayAnswer } from './availability.ts'
import { cursors, type Origin } from './cursor.store.ts'
import type { Figures } from './figures.ts'
import { gathered } from './gather.ts'
import { historyOf } from './history.ts'
import { openMemoryBound } from './memory.ts'
import { unseen } from './projection.ts'
import { loadRecords } from './record.store.ts'

type Asked = { database: Database; origin: Origin; clock: Clock; lagMaxMs: number }

/** Answers from the generation that serves, as one snapshot; refuses `indexer_lags` if it may not. */
export const recordResponder = (parts: Asked) => {
  const load = gathered((wallets: ReadonlySet<Address>) =>
    loadRecords(parts.database, parts.origin, wallets),
  )
  const boundMemory = openMemoryBound()
  return answering(IndexerRecord, async ({ wallet: asked }) => {
    const wallet = asked.toLowerCase() as Address
    const loaded = await load(wallet)
    boundMemory(1)
    if (!loaded || !mayAnswer(loaded.cursor, parts.lagMaxMs, parts.clock())) {
      return refuse('indexer_lags')
    }
    const entry = loaded.found.get(wallet)
    const history = historyOf(entry?.record ?? unseen, entry?.cycles ?? [])
    return ok({ history, blockNumber: String(loaded.cursor.blockNumber) })
  })
}

/** The true figures for `nats micro stats`. */
export async function readStats(parts: Asked & { figures: Figures }) {
  const [serving] = await parts.database.read((db) =>
    db
      .select()
      .from(cursors)
      .where(and(eq(cursors.state, 'serving'), eq(cursors.contract, parts.origin.contract))),
  )
  const [filling] = await parts.database.read((db) =>
    db.select().from(cursors).where(eq(cursors.state, 'filling')),
  )
  const { finalized } = parts.figures
  return {
    answers: mayAnswer(serving, parts.lagMaxMs, parts.clock()),
    generation: serving?.generation ?? null,
    cursor: serving?.blockNumber ?? null,
    confirmedTo: serving?.confirmedTo ?? null,
    events: serving?.eventCount ?? 0,
    lagMs: serving ? lagMs(serving, parts.clock()) : null,
    lagBlocks: serving && finalized !== null ? Math.max(0, finalized - serving.blockNumber) : null,
    filling: filling ? { generation: filling.generation, cursor: filling.blockNumber } : null,
    ...parts.figures,
  }
}
