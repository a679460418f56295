import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'

test('a break that an earlier version explained stays muted for the amount that it has, and another one for none', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const rests = new Date(Date.now() + 3_600_000)
  const one = { rule: 'r', asset: 'IDR', amount: -7, about: 'a' }
  await sql`insert into books.breaks ${sql([
    { ...one, item: 'before', rests_until: rests, explained_amount: null, exceeded_at: new Date() },
    { ...one, item: 'since', rests_until: rests, explained_amount: -3, exceeded_at: new Date() },
    { ...one, item: 'other', rests_until: null, explained_amount: null, exceeded_at: null },
  ])}`
  await sql.unsafe(await Bun.file(`${import.meta.dir}/books/0007_explained-before.sql`).text())
  const rows =
    await sql`select item, explained_amount as to, exceeded_at is not null as grown from books.breaks order by item`
  expect([...rows]).toEqual([
    { item: 'before', to: '-7', grown: false },
    { item: 'other', to: null, grown: false },
    { item: 'since', to: '-3', grown: true },
  ])
  await sql.end({ timeout: 1 })
})
