import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { pgSchema } from 'drizzle-orm/pg-core'
import { Type } from 'typebox'
import { type HandlingContext, handle } from '#platform/bus/handling'
import { noNews, reactTo } from '#platform/bus/reaction'
import { attemptsMax } from '#platform/bus/verdict'
import { orFail } from '#platform/db/compiled-query'
import { claim } from '#platform/db/inbox.store'
import { messagingTables } from '#platform/db/messaging'
import { type Database, openDatabase, sendAhead, type Tx } from '#platform/db/open'
import { DeadlinePassed } from '#platform/deadline'
import { openLog } from '#platform/log'
import { event } from '#shared/messages/topic'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { handleUntilDone, waitUntil } from '#test/support/wait'

const happened = event('relay.extend.failed', 'chain-relayer', Type.Object({ id: Type.String() }))
const messaging = messagingTables(pgSchema('payments'))
const log = openLog('payments', 'silent')

let server: ScratchPostgres
let copies: [Database, Database]
beforeAll(async () => {
  server = await startScratchPostgres()
  const open = () => openDatabase({ url: server.adminUrl, name: 'suite', log, onFatal: () => {}, max: 4 })
  copies = [open(), open()]
  await copies[0].run((db) => db.execute(sql`create table public.done (id text not null)`))
})
afterAll(async () => {
  for (const database of copies ?? []) await database[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const timesDone = async (id: string) =>
  (await copies[0].read((db) => db.execute(sql`select from public.done where id = ${id}`))).length
const claims = async (messageId: string) => {
  const { inbox } = messaging
  const isIt = and(eq(inbox.messageId, messageId), eq(inbox.attempts, 0), isNotNull(inbox.doneAt))
  return copies[0].read((db) => db.$count(inbox, isIt))
}
const work = (tx: Tx, id: string) => tx.execute(sql`insert into public.done values (${id})`)

type Steps = {
  find?: () => Promise<unknown>
  apply?: (tx: Tx, message: { id: string }) => Promise<void>
  applyNew?: (tx: Tx, message: { id: string }) => void
}
const contextOf = (database: Database, { find, apply, applyNew }: Steps = {}): HandlingContext => ({
  consumer: 'payments',
  database,
  messaging,
  log,
  poke: () => {},
  reactions: [
    reactTo(happened, {
      ...(find && { find }),
      ...(applyNew && { applyNew }),
      apply: apply ?? (async (tx, { id }) => void (await work(tx, id))),
    }),
  ],
})
const messageOf = (id: string, payload: object = { id }) => ({
  subject: 'relay.extend.failed',
  messageId: id,
  payload,
})

describe('a message', () => {
  // guard: of two instances with the same message, one claims it
  test('received by two instances at the same moment is handled once', async () => {
    const both = Promise.withResolvers<void>()
    let found = 0
    const find = async () => {
      found += 1
      if (found === 2) both.resolve()
      await both.promise
    }
    const handled = copies.map((copy) => handle(contextOf(copy, { find }), messageOf('twice')))
    expect(await Promise.all(handled)).toEqual(['done', 'done'])
    expect(await timesDone('twice')).toBe(1)
  })

  // guard: only the instance with the claim does the work
  test('redelivered after it was handled is not handled again', async () => {
    for (const copy of copies) await handle(contextOf(copy), messageOf('again'))
    expect(await timesDone('again')).toBe(1)
  })

  test('that was handled is not looked up again when a new consumer delivers it', async () => {
    let found = 0
    const find = async () => void found++
    await handle(contextOf(copies[0], { find }), messageOf('handled'))
    await handle(contextOf(copies[1], { find }), messageOf('handled'))
    expect(found).toBe(1)
    expect(await timesDone('handled')).toBe(1)
  })

  // guard: a fresh message that is claimed is not handled
  test('that is fresh is looked up without asking whether it was handled, and still takes effect once', async () => {
    let found = 0
    const find = async () => void found++
    const fresh = { ...messageOf('fresh'), isFresh: true }
    expect(await handle(contextOf(copies[0], { find }), fresh)).toBe('done')
    expect(await handle(contextOf(copies[1], { find }), fresh)).toBe('done')
    expect(found).toBe(copies.length)
    expect(await timesDone('fresh')).toBe(1)
  })

  test('without news is claimed without being applied, and is not looked up again', async () => {
    let found = 0
    const find = async () => {
      found += 1
      return noNews
    }
    for (const copy of copies) expect(await handle(contextOf(copy, { find }), messageOf('known'))).toBe('done')
    expect(found).toBe(1)
    expect(await timesDone('known')).toBe(0)
  })

  test('without news that is fresh is claimed a moment later, also by two instances, and is not looked up again', async () => {
    let found = 0
    const find = async () => {
      found += 1
      return noNews
    }
    const fresh = { ...messageOf('claimed later'), isFresh: true }
    for (const copy of copies) expect(await handle(contextOf(copy, { find }), fresh)).toBe('done')
    expect(await claims('claimed later')).toBe(0)
    await waitUntil('the claim', async () => (await claims('claimed later')) === 1)
    expect(await handle(contextOf(copies[1], { find }), messageOf('claimed later'))).toBe('done')
    expect(found).toBe(copies.length)
    expect(await timesDone('claimed later')).toBe(0)
  })

  describe('that is fresh, and whose work needs no result', () => {
    const insertNew = (id: string) => sql`insert into public.done select ${id}
      where not exists (select from public.done where id = ${id}) returning id`
    const applyNew = (tx: Tx, { id }: { id: string }) => sendAhead(tx, orFail(insertNew(id), []))
    const fresh = (messageId: string, id = messageId) => ({ ...messageOf(messageId, { id }), isFresh: true })
    const never = async () => expect.unreachable()

    test('is handled without a look at what is stored, and once by two instances at the same moment', async () => {
      expect(await handle(contextOf(copies[0], { apply: never, applyNew }), fresh('new'))).toBe('done')
      const apply = async () => {}
      const handled = copies.map((copy) => handle(contextOf(copy, { apply, applyNew }), fresh('both')))
      expect(await Promise.all(handled)).toEqual(['done', 'done'])
      expect([await timesDone('new'), await timesDone('both')]).toEqual([1, 1])
    })

    test('is handled like any other if what it leads to is stored already, and counts no failure', async () => {
      const applied: string[] = []
      const apply = async (_: Tx, { id }: { id: string }) => void applied.push(id)
      for (const name of ['first', 'second'])
        expect(await handle(contextOf(copies[0], { apply, applyNew }), fresh(name, 'stored'))).toBe('done')
      expect({ applied, times: await timesDone('stored') }).toEqual({ applied: ['stored'], times: 1 })
      expect(await claims('second')).toBe(1)
    })

    test('leaves no claim if its work fails, and is handled at its redelivery', async () => {
      const failing = (tx: Tx) => sendAhead(tx, sql`insert into public.done values (null)`)
      expect(await handle(contextOf(copies[0], { applyNew: failing }), fresh('broken'))).toHaveProperty('retryInMs')
      const { inbox } = messaging
      const rows = await copies[0].read((db) => db.select().from(inbox).where(eq(inbox.messageId, 'broken')))
      expect(rows).toMatchObject([{ attempts: 1, doneAt: null }])
      expect(await handle(contextOf(copies[1], { applyNew: failing }), messageOf('broken'))).toBe('done')
      expect(await timesDone('broken')).toBe(1)
    })

    test('does nothing if it was handled before', async () => {
      const steps = { apply: never, applyNew }
      for (const copy of copies) expect(await handle(contextOf(copy, steps), fresh('handled twice'))).toBe('done')
      expect(await timesDone('handled twice')).toBe(1)
    })
  })

  // guard: a claim commits together with its work or not at all
  test('whose handler fails leaves no trace and is handled at its redelivery', async () => {
    const apply = async (tx: Tx, { id }: { id: string }) => {
      await work(tx, id)
      throw new Error('the process ends here')
    }
    const failing = contextOf(copies[0], { apply })
    expect(await handle(failing, messageOf('failed'))).toHaveProperty('retryInMs')
    expect(await timesDone('failed')).toBe(0)
    await handleUntilDone(contextOf(copies[1]), messageOf('failed'))
    expect(await timesDone('failed')).toBe(1)
  })

  // guard: a dead letter is kept
  test('that can never be parsed is dead-lettered with its whole content, and raises an alert', async () => {
    const logged: object[] = []
    const telling = openLog('payments', 'info', { write: (line) => void logged.push(JSON.parse(line)) })
    expect(await handle({ ...contextOf(copies[0]), log: telling }, messageOf('odd', { odd: 1 }))).toBe('done')
    const { subject, messageId } = messageOf('odd')
    const alarm = { alarm: true, subject, messageId, reason: expect.stringMatching(/id/) }
    expect(logged).toMatchObject([{ msg: 'message dead-lettered', ...alarm }])
    const { deadLetters } = messaging
    const kept = await copies[0].read((db) => db.select().from(deadLetters))
    expect(kept).toMatchObject([{ messageId: 'odd', payload: { odd: 1 }, redrivenAt: null }])
  })

  test('security: with characters that Postgres cannot store is dead-lettered without them', async () => {
    const odd = { id: 1, 'a\0': 'b\0', half: '\ud83d', escaped: '\\u0000', whole: '😀' }
    expect(await handle(contextOf(copies[0]), messageOf('unstorable', odd))).toBe('done')
    const { deadLetters } = messaging
    const kept = await copies[0].read((db) =>
      db.select().from(deadLetters).where(eq(deadLetters.messageId, 'unstorable')),
    )
    const payload = { ...odd, 'a\0': undefined, 'a\ufffd': 'b\ufffd', half: '\ufffd' }
    expect(kept).toMatchObject([{ payload: JSON.parse(JSON.stringify(payload)) }])
  })

  test('security: whose failure names such a character is counted', async () => {
    const apply = async () => {
      throw new Error('a\0')
    }
    const failing = contextOf(copies[0], { apply })
    expect(await handle(failing, messageOf('named'))).toEqual({ retryInMs: 200 })
  })

  test('whose last attempt commits without a response is not dead-lettered', async () => {
    const { inbox, deadLetters } = messaging
    const row = { consumer: 'payments', messageId: 'committed', attempts: attemptsMax - 1 }
    await copies[0].run((db) => db.insert(inbox).values(row))
    let isLost = false
    const losing: Database = {
      ...copies[0],
      transaction: async (work) => {
        const result = await copies[0].transaction(work)
        if (isLost) return result
        isLost = true
        throw new DeadlinePassed('the database', 1)
      },
    }
    expect(await handle(contextOf(losing), messageOf('committed'))).toBe('done')
    expect(await timesDone('committed')).toBe(1)
    const kept = await copies[0].read((db) =>
      db.select().from(deadLetters).where(eq(deadLetters.messageId, 'committed')),
    )
    expect(kept).toEqual([])
  })
})

describe('a claim', () => {
  // guard: a row of the list is claimed once
  test('is given to one of two open transactions', async () => {
    const claimIn = (database: Database) => database.transaction((tx) => claim(tx, messaging.inbox, 'list', 'row'))
    expect((await Promise.all(copies.map(claimIn))).toSorted()).toEqual([false, true])
    expect(await claimIn(copies[0])).toBe(false)
  })
})
