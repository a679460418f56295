import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'

test('open refunds and disputes of an earlier version, and doubts about those that a webhook named, are asked about, and no others', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const doubt = { payment_id: 'pay_1', provider_payment_id: 'py-1', origin: 'void', status: 'unknown' }
  const rows = [
    { ...doubt, id: 'void:rfd-1', object_id: null },
    { ...doubt, id: 'void:dspt_1', object_id: 'dspt_1' },
    { ...doubt, id: 'void:dspt_2:py-1', object_id: 'dspt_2' },
    { ...doubt, id: 'void:py-1', object_id: null },
    { ...doubt, id: 'void:txn_1', object_id: null },
    { ...doubt, id: 'void:rfd-2', object_id: null, status: 'dead' },
    { ...doubt, id: 'rfd-3', object_id: null, origin: 'refund', status: 'pending' },
    { ...doubt, id: 'rfd-4', object_id: null, origin: 'refund', status: 'succeeded' },
    { ...doubt, id: 'dspt_3', object_id: 'py-1', origin: 'chargeback' },
    { ...doubt, id: 'listed:txn_2', object_id: null, origin: 'refund', status: 'pending' },
    { ...doubt, id: 'chargeback:txn_3', object_id: null, origin: 'chargeback', status: 'pending' },
  ]
  await sql`insert into payments.refunds ${sql(rows)}`
  await sql.unsafe(await Bun.file(`${import.meta.dir}/payments/0013_looks-at-doubts.sql`).text())
  const planned = await sql<{ id: string }[]>`
    select id from payments.refunds where next_check_at is not null order by id`
  expect(planned.map(({ id }) => id)).toEqual(['dspt_3', 'rfd-3', 'void:dspt_1', 'void:rfd-1'])
  await sql.end({ timeout: 1 })
})
