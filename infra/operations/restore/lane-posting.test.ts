import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import type { LaneTransaction } from './lane'
import type { LostOperation } from './operations'
import { type PutBack, putBack } from './put-back'

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

const [lane, ana] = [`0x${'1'.repeat(40)}`, `0x${'a'.repeat(40)}`] as const
const hash = (nonce: number) => `0x${String(nonce).padStart(64, '0')}` as const

const sent = (nonce: number, what: Partial<LaneTransaction>): LaneTransaction => ({
  lane,
  nonce,
  hash: hash(nonce),
  blockNumber: 5n,
  blockHash: hash(99),
  to: ana,
  data: '0x',
  valueWei: 0n,
  paidWei: 7n,
  reverted: false,
  actions: [],
  ...what,
})
const pay = [{ does: 'pay', wallet: ana, done: true }] as const

async function restored(transaction: LaneTransaction, operations: LostOperation[] = []) {
  const transactions = [{ transaction, operations }]
  const what = { payments: [], paid: [], payouts: [], erased: new Map(), paidCashouts: [], asked: [], transactions }
  await putBack(sql, { since: new Date(), ...what } satisfies PutBack)
  const items = [`${lane}:${transaction.nonce}`, ...operations.map(({ cause }) => cause)]
  const rows = await sql<{ account: string; asset: string; amount: string }[]>`
    select account, asset, amount::text from chain_relayer.journal
    where item = any(${items}) and event = 'put back' order by booked_at, line`
  return rows.map(({ account, asset, amount }) => `${account} ${amount} ${asset}`)
}

test.each([
  ['a call', 1, {}, ['lanes -7 MON', 'gas 7 MON']],
  ['a drip', 2, { valueWei: 50n, actions: [...pay] }, ['lanes -57 MON', 'gas 7 MON', 'drips 50 MON']],
  ['a drip that reverted', 3, { valueWei: 50n, actions: [...pay], reverted: true }, ['lanes -7 MON', 'gas 7 MON']],
  [
    'a transaction of another sender',
    4,
    { valueWei: 9n, actions: undefined },
    ['lanes -16 MON', 'gas 7 MON', 'suspense 9 MON'],
  ],
] as [string, number, Partial<LaneTransaction>, string[]][])(
  '%s that is restored is booked once',
  async (_, nonce, what, lines) => {
    expect(await restored(sent(nonce, what))).toEqual(lines)
    expect(await restored(sent(nonce, what))).toEqual(lines)
  },
)

test('returned AUSD is booked once as well', async () => {
  const cause = `${hash(9)}:3`
  const operation: LostOperation = {
    id: 'op_1',
    kind: 'giveback',
    cause,
    wallet: ana,
    payload: { ausd: '5' },
    contentHash: 'h',
    revision: null,
    authorizationNonce: null,
    leavesMicro: '0',
  }
  const lines = ['lanes -7 MON', 'gas 7 MON', 'suspense 5 AUSD', 'treasury -5 AUSD']
  expect(await restored(sent(5, {}), [operation])).toEqual(lines)
  expect(await restored(sent(5, {}), [operation])).toEqual(lines)
})
