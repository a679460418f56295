import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { refOf } from '#shared/chain/ref'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import type { LaneTransaction } from './lane'
import type { LostOperation } from './operations'
import { type PutBack, putBack } from './put-back'
import type { LostPayout } from './world'

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
/** A restore that puts nothing back. */
const nothing: Omit<PutBack, 'since'> = {
  payments: [],
  paid: [],
  payouts: [],
  returns: [],
  dropped: [],
  hold: [],
  erased: new Map(),
  paidCashouts: [],
  asked: [],
  transactions: [],
}
const pay = [{ does: 'pay', wallet: ana, done: true }] as const

async function restored(transaction: LaneTransaction, operations: LostOperation[] = []) {
  const transactions = [{ transaction, operations }]
  await putBack(sql, { ...nothing, since: new Date(), transactions })
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

const lostPayout = (payoutId: string): LostPayout => ({
  id: payoutId,
  state: 'paying',
  wallet: ana,
  ausdMicro: 5n,
  fiatMinor: 80n,
  feeMinor: 0n,
  rateMinorPerUsd: 16_000n,
  spreadBps: 0n,
  quoteId: payoutId,
  requestFingerprint: 'me',
  authorization: {
    from: ana,
    to: lane,
    value: '5',
    validAfter: '0',
    validBefore: '9',
    nonce: refOf(payoutId),
    signature: '0x',
  },
  channelCode: 'ID_BCA',
  providerPayoutId: null,
  reason: null,
  takeTxHash: null,
  createdAt: new Date(),
})

// guard: a cash-out whose AUSD went back since the backup is not paid after a restore
test.each([
  ['taken', 'was returned', 6],
  ['paying', 'was returned', 7],
  ['paid', 'was returned', 8],
  ['taken', 'was ordered back', undefined],
  ['paying', 'was ordered back', undefined],
  ['paid', 'was ordered back', undefined],
] as const)(
  'a cash-out that is %s in a backup, and whose AUSD %s since, is returned and not paid',
  async (state, _, nonce) => {
    const payoutId = crypto.randomUUID()
    const lost = lostPayout(payoutId)
    await putBack(sql, { ...nothing, since: new Date(), payouts: [lost] })
    await sql`update payouts.payouts set state = ${state} where id = ${payoutId}`
    const operation: LostOperation = {
      id: `op_${payoutId}`,
      kind: 'return',
      cause: payoutId,
      wallet: ana,
      payload: { payoutId, wallet: ana, ausd: '5' },
      contentHash: 'h',
      revision: null,
      authorizationNonce: null,
      leavesMicro: '0',
    }
    if (nonce) await restored(sent(nonce, {}), [operation])
    else await putBack(sql, { ...nothing, since: new Date(), returns: [payoutId] })
    const [row] =
      await sql`select state, reason, next_check_at <= now() as due from payouts.payouts where id = ${payoutId}`
    const reason = state === 'paid' ? 'bank_reversed' : 'cancelled'
    expect({ ...row }).toEqual({ state: 'returning', reason, due: true })
    const lines = await sql<{ account: string; amount: string }[]>`
      select account, sum(amount)::text as amount from payouts.journal where item = ${payoutId}
      group by account, asset having sum(amount) <> 0 order by account`
    expect(lines.map(({ account, amount }) => `${account} ${amount}`)).toEqual(['returns -5', 'treasury 5'])
  },
)

test.each([
  ['waits is not sent', 'waiting', []],
  ['is signed stays, because it may be on the chain', 'assigned', ['assigned']],
])('a dropped return that %s, and its messages count as handled', async (_, state, states) => {
  const payoutId = crypto.randomUUID()
  await sql`
    insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
    values (${`op_${payoutId}`}, 'return', ${payoutId}, ${ana}, '{}', 'h', 0, ${state})`
  const dropped = [{ id: payoutId, messageIds: [`${payoutId}-1`, `${payoutId}-2`] }]
  for (const _ of [1, 2]) await putBack(sql, { ...nothing, since: new Date(), dropped })
  const left = await sql<{ state: string }[]>`select state from chain_relayer.operation where cause = ${payoutId}`
  expect(left.map((row) => row.state)).toEqual(states)
  const handled = await sql<{ id: string }[]>`select message_id as id from chain_relayer.inbox
    where consumer = 'chain-relayer' and done_at is not null and message_id like ${`${payoutId}%`} order by 1`
  expect(handled.map(({ id }) => id)).toEqual([`${payoutId}-1`, `${payoutId}-2`])
})

// guard: a cash-out that was held since the backup is not paid after a restore
test.each([
  ['taken', true],
  ['paying', false],
])('a cash-out that is %s and that an operator held since the backup is held: %p', async (state, held) => {
  const payoutId = crypto.randomUUID()
  const what = { ...nothing, since: new Date(), hold: [payoutId] }
  await putBack(sql, { ...what, payouts: [lostPayout(payoutId)] })
  await sql`update payouts.payouts set state = ${state} where id = ${payoutId}`
  for (const _ of [1, 2]) await putBack(sql, { ...what, payouts: [] })
  const [row] = await sql`select held_by_operator as held, hold_revision as revision from payouts.payouts
    where id = ${payoutId}`
  expect({ ...row }).toEqual({ held, revision: held ? 1 : 0 })
})
