import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { readRows } from '../health/rows'
import { readOperations } from '../timeline/operations'
import { readMoney } from './money'

test('console, status and trace show the amount of a send, which only its signature names', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  const payload = { sendId: 'snd_1', authorization: { value: '5000000' } }
  await sql`
    insert into chain_relayer.operation
      (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
    values ('op_1', 'send', 'snd_1', '0x1', ${sql.json(payload)}, 'h', 5000000, 'waiting'),
      ('op_2', 'drip', '0x1', '0x1', '{}', 'h', 0, 'waiting')`
  const { inFlight } = await readMoney(sql)
  expect(inFlight).toMatchObject([{ kind: 'send', ausdMicro: '5000000' }])
  const { states } = await readRows(sql)
  expect(states).toMatchObject([{ what: 'operation', count: 2, sums: { AUSD: '5000000' } }])
  const roots = { payments: [], cashouts: [], wallets: [], others: [] }
  const { items } = await readOperations(sql, { ...roots, operations: ['op_1', 'op_2'] })
  expect(items?.map(({ facts }) => facts.of)).toEqual(['5.000000 AUSD', undefined])
  await sql.end({ timeout: 1 })
})
