import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { databaseRoles, hasMigrations, journalOf } from '#infra/migrations/databases'
import { migrateAll, skippedIn } from '#infra/migrations/migrate'
import { startScratchPostgres } from '#test/support/scratch-postgres'

test.each(databaseRoles.filter(hasMigrations))('each migration of %s is newer than the one before', (role) => {
  const times = journalOf(role).map(({ when }) => when)
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
})

test.each([
  ['none, if all are applied', [1, 2], [1, 2], undefined],
  ['none, if only newer ones are not applied', [1, 2, 3], [1], undefined],
  ['an older one', [1, 2, 3], [1, 3], '2'],
  ['the second of one time', [1, 2, 2], [1, 2], '2 again'],
  ['none, if both of one time are applied', [1, 2, 2], [1, 2, 2], undefined],
])('the migrations that would be skipped are: %s', (_, journal, applied, skipped) => {
  const entries = journal.map((when, at) => ({ when, tag: journal[at - 1] === when ? `${when} again` : `${when}` }))
  expect(skippedIn(entries, applied)?.tag).toBe(skipped)
})

test('a migration older than the latest applied one is refused by name, and nothing is changed', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const migrate = () => migrateAll({ adminUrl: server.adminUrl, passwords: server.passwords })
  const noted = () => sql`select created_at from migrations.payments order by id`
  const { tag, when } = journalOf('payments').at(-1)!
  await sql`update migrations.payments set created_at = ${when + 1} where created_at = ${when}`
  const before = await noted()
  await expect(migrate()).rejects.toThrow(`migration ${tag} of payments`)
  expect(await noted()).toEqual(before)
  await sql.end({ timeout: 1 })
})
