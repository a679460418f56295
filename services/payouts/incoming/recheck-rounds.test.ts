import { afterAll, beforeAll, test } from 'bun:test'
import { isNotNull, sql } from 'drizzle-orm'
import type { Database } from '#platform/db/open'
import { openLog } from '#platform/log'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import { insertCashout } from '../cashout.store'
import { cashouts } from '../cashout.table'
import type { Context } from '../context'
import { cashoutRow } from '../test-support'
import { startRechecking } from './recheck'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payouts')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const storeDue = (id: string) =>
  database.transaction((tx) => insertCashout(tx, cashoutRow(id, { state: 'returned', nextCheckAt: sql`now()` })))

const due = () => database.read((db) => db.$count(cashouts, isNotNull(cashouts.nextCheckAt)))

test('cash-outs that are due at once are all checked in turn, without waiting for the next interval', async () => {
  await Promise.all(Array.from({ length: 200 }, (_, at) => storeDue(`po_${at}`)))
  const context = { database, recheckAfterMs: 60_000, log: openLog('suite', 'silent') } as unknown as Context
  await using _ = startRechecking(context, { recheckEveryMs: 60_000 })
  await waitUntil('all to be checked', async () => (await due()) === 0, 20_000)
})
