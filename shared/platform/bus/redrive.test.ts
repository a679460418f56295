import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pgSchema } from 'drizzle-orm/pg-core'
import postgres, { type Sql } from 'postgres'
import { Type } from 'typebox'
import { type HandlingContext, handle } from '#platform/bus/handling'
import { reactTo } from '#platform/bus/reaction'
import { redriveOnce } from '#platform/bus/redrive'
import { messagingTables } from '#platform/db/messaging'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { event } from '#shared/messages/topic'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

const happened = event('relay.extend.failed', 'chain-relayer', Type.Object({ id: Type.String() }))
const logged: { msg: string; alarm?: boolean }[] = []
const log = openLog('payments', 'info', { write: (line) => void logged.push(JSON.parse(line)) })
const messaging = messagingTables(pgSchema('payments'))

let server: ScratchPostgres
let sql: Sql
let copies: HandlingContext[]
let applied: string[]
let fault: Error | undefined

beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const url = server.urlAs('payments', server.passwords.payments)
  const reaction = reactTo(happened, {
    find: async () => {
      if (fault) throw fault
    },
    apply: async (_, { id }) => void applied.push(id),
  })
  copies = [1, 2].map(() => ({
    consumer: 'payments',
    messaging,
    reactions: [reaction],
    log,
    poke: () => {},
    database: openDatabase({ url, name: 'suite', log, onFatal: () => {} }),
  }))
})
afterAll(async () => {
  for (const { database } of copies) await database[Symbol.asyncDispose]()
  await sql.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

async function bury(id: string, payload: object) {
  ;[applied, fault] = [[], undefined]
  logged.length = 0
  await sql`
    insert into payments.inbox (consumer, message_id, attempts, done_at)
    values ('payments', ${id}, 40, now())`
  await sql`
    insert into payments.dead_letter
      (consumer, message_id, subject, payload, reason, redrive_requested_at)
    values ('payments', ${id}, 'relay.extend.failed', ${sql.json(payload as never)}, 'old', now())`
}
const rowOf = async (id: string) => {
  const [row] = await sql`
    select reason, redrive_requested_at is not null as asked, redriven_at is not null as done
    from payments.dead_letter where message_id = ${id}`
  return row
}
const said = () => logged.map(({ msg, alarm }) => (alarm ? `${msg}!` : msg))
const bothRedrive = () => Promise.all(copies.map((copy) => redriveOnce(copy)))

// guard: a redrive is done by one instance
test('instances that redrive at the same time handle a message once', async () => {
  await bury('twice', { id: 'twice' })
  await bothRedrive()
  await bothRedrive()
  const incoming = { subject: 'relay.extend.failed', messageId: 'twice', payload: { id: 'twice' } }
  expect(await handle(copies[0]!, incoming)).toBe('done')
  expect(applied).toEqual(['twice'])
  expect(await rowOf('twice')).toEqual({ reason: 'old', asked: true, done: true })
  expect(said()).toEqual(['dead letter redriven'])
})

test('a message that can never be parsed is dead-lettered again at once, and logged once', async () => {
  await bury('bad', { wrong: true })
  await bothRedrive()
  await bothRedrive()
  expect(await rowOf('bad')).toMatchObject({ asked: false, done: false })
  expect(said()).toEqual(['redrive failed, message dead-lettered again!'])
})

test('a message whose handler fails is retried for a minute after the redrive', async () => {
  await bury('late', { id: 'late' })
  fault = new Error('provider down')
  await redriveOnce(copies[0]!)
  expect(await rowOf('late')).toEqual({ reason: 'old', asked: true, done: false })
  await sql`
    update payments.dead_letter set redrive_requested_at = now() - interval '61 seconds'
    where message_id = 'late'`
  await redriveOnce(copies[0]!)
  expect(await rowOf('late')).toEqual({ reason: 'provider down', asked: false, done: false })
  expect(said()).toEqual(['redrive failed, will retry', 'redrive failed, message dead-lettered again!'])
})
