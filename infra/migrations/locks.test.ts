import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { migrateAll } from '#infra/migrations/migrate'
import { pause, within } from '#platform/deadline'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let owner: Sql
/** Reads a journal for long, as a comparison of all books or a dump does. */
let reader: Sql
/** A service, which gives up a lock after 2 s. */
let service: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  const open = (url: string, connection = {}) => postgres(url, { max: 1, onnotice: () => {}, connection })
  owner = open(server.adminUrl)
  reader = open(server.adminUrl)
  service = open(server.urlAs('payments', server.passwords.payments), { lock_timeout: 2_000 })
})
afterAll(async () => {
  await Promise.all([owner, reader, service].map((sql) => sql?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})
const migrate = () => migrateAll({ adminUrl: server.adminUrl, passwords: server.passwords })

/** Runs work while somebody reads the journal of payments. */
const whileRead = <T>(work: () => Promise<T>): Promise<T> =>
  reader.begin(async (tx) => {
    await tx`select from payments.journal`
    return work()
  }) as Promise<T>

const triggers = () => owner<{ name: string; id: number }[]>`
  select tgname as name, oid::int as id from pg_trigger
  where tgrelid = 'payments.journal'::regclass and not tgisinternal order by 1`

test('a migration without news waits for no reader of a journal, and leaves its triggers as they are', async () => {
  const before = await triggers()
  expect(before.map(({ name }) => name)).toEqual(['journal_balances', 'journal_is_kept', 'journal_stays'])
  await whileRead(() => within(migrate(), 20_000, 'the migration'))
  expect(await triggers()).toEqual(before)
})

test.each([
  ['is missing', 'drop trigger journal_stays on payments.journal'],
  ['is disabled', 'alter table payments.journal disable trigger journal_stays'],
  [
    'fires for less',
    `drop trigger journal_stays on payments.journal; create trigger journal_stays
    before delete on payments.journal for each row execute function payments.journal_stays()`,
  ],
])('a migration creates a trigger again that %s', async (_, breaking) => {
  await owner.unsafe(breaking)
  await migrate()
  await owner`insert into payments.journal (posting, line, event, item, account, asset, amount)
    values ('kept', 0, 'test', 'test', 'treasury', 'AUSD', -1), ('kept', 1, 'test', 'test', 'promises', 'AUSD', 1)
    on conflict do nothing`
  await expect(owner`update payments.journal set amount = 8`.execute()).rejects.toThrow('reverse the posting')
})

test('a migration that waits for a reader of a table lets the services work meanwhile', async () => {
  await owner`drop trigger journal_stays on payments.journal`
  let migrating: Promise<void> | undefined
  await whileRead(async () => {
    migrating = migrate()
    const endsAt = performance.now() + 4_000
    while (performance.now() < endsAt) {
      await service`select from payments.journal`
      await pause(50)
    }
  })
  await migrating
  expect((await triggers()).map(({ name }) => name)).toContain('journal_stays')
})
