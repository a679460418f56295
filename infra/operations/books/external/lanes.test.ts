import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { parseEther } from 'viem'
import { waitUntil } from '#infra/local/wait'
import { actors, refOf } from '#test/support/contracts'
import { readOutside } from '../read'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { journalOf } from './test-support'

const lane = actors.relayer.address.toLowerCase() as `0x${string}`
const place = `lane:${lane}`
let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
})
afterAll(() => fixture.close())

const coin = () => fixture.chain.client.getBalance({ address: lane })
const nonceNow = () => fixture.chain.client.getTransactionCount({ address: lane })
let refs = 0
/** Sends a transaction. Returns its nonce and its cost in wei. */
async function send() {
  const [nonce, before] = [await nonceNow(), await coin()]
  const args = [refOf(++refs), actors.ana.address, 1_000n, false] as const
  await fixture.chain.send('relayer', 'creditLine', 'topUp', args)
  return { nonce, wei: before - (await coin()) }
}
const giveOut = (nonce: number) => fixture.admin`
  insert into chain_relayer.transaction (lane, nonce, purpose, operation_ids, "to", data, value_wei)
  values (${lane}, ${nonce}, 'op', '[]', ${lane}, '0x', 0)`
const conclude = async ({ nonce, wei }: { nonce: number; wei: bigint }) => {
  const item = `${lane}:${nonce}`
  await fixture.admin.begin(async (tx) => {
    await tx`
      insert into chain_relayer.journal (posting, line, event, item, account, asset, amount) values
        (${item}, 0, 'op', ${item}, 'lanes', 'MON', ${`${-wei}`}),
        (${item}, 1, 'op', ${item}, 'gas', 'MON', ${`${wei}`})`
    await tx`
      update chain_relayer.transaction set outcome = 'ok' where lane = ${lane} and nonce = ${nonce}`
  })
}
const nextNonce = (nonce: number) => fixture.admin`
  insert into chain_relayer.lane (address, next_nonce) values (${lane}, ${nonce})
  on conflict (address) do update set next_nonce = ${nonce}`
const read = async (copies = 1) => {
  await fixture.finalize()
  await Promise.all(Array.from({ length: copies }, () => readOutside(fixture.copy())))
}
const balance = async () => (await fixture.admin`select amount, nonce from books.balances where place = ${place}`)[0]
const booked = async () => (await journalOf(fixture.admin, [place])).map(({ lines }) => lines.lanes)

beforeEach(async () => {
  await nextNonce(await nonceNow())
})

test('the opening balance of a lane is booked as capital once, also by three instances', async () => {
  await read(3)
  expect(await booked()).toEqual([await coin()])
  expect(await balance()).toEqual({ amount: `${await coin()}`, nonce: await nonceNow() })
  await read()
  expect(await booked()).toHaveLength(1)
})

test("a lane's balance stays unchanged until the relayer has booked all its spending, and spending is not booked again", async () => {
  const before = await balance()
  const [one, other] = [await send(), await send()]
  for (const { nonce } of [one, other]) await giveOut(nonce)
  await nextNonce(await nonceNow())
  await conclude(one)
  await read()
  expect(await balance()).toEqual(before!)
  await conclude(other)
  await read()
  expect(await balance()).toEqual({ amount: `${await coin()}`, nonce: await nonceNow() })
  expect(await booked()).toHaveLength(1)
})

test('a reading waits until the relayer has booked a pending nonce', async () => {
  const one = await send()
  await giveOut(one.nonce)
  await nextNonce(await nonceNow())
  const readTo = async () => (await fixture.admin`select block from books.balances where place = 'treasury'`)[0]!.block
  const before = await readTo()
  const reading = read()
  await waitUntil('the chain is read', async () => (await readTo()) !== before)
  await conclude(one)
  await reading
  expect((await balance())!.nonce).toBe(await nonceNow())
})

test('native coin added to a lane is booked as capital, also between two transactions', async () => {
  const one = await send()
  const wei = parseEther('3')
  await fixture.chain.client.setBalance({ address: lane, value: (await coin()) + wei })
  const other = await send()
  for (const sent of [one, other]) {
    await giveOut(sent.nonce)
    await conclude(sent)
  }
  await nextNonce(await nonceNow())
  await read(2)
  expect((await booked()).slice(1)).toEqual([wei])
})

test('native coin missing from a lane is booked in suspense for manual review', async () => {
  await fixture.chain.client.setBalance({ address: lane, value: (await coin()) - 7n })
  await read()
  expect((await booked()).slice(2)).toEqual([-7n])
  const gone = await fixture.admin<{ event: string; amount: string }[]>`
    select event, amount::text from books.journal where account = 'suspense'`
  expect([...gone]).toEqual([{ event: 'coin gone', amount: '7' }])
  expect((await balance())!.amount).toBe(`${await coin()}`)
  const [sum] = await fixture.admin<{ wei: string }[]>`
    select sum(amount)::text as wei from (
      select amount from books.journal where account = 'lanes'
      union all select amount from chain_relayer.journal where account = 'lanes') as all_lines`
  expect(BigInt(sum!.wei)).toBe(await coin())
})

test('the balance of a lane stays unchanged if it sent a transaction whose nonce the relayer did not assign', async () => {
  const before = await balance()
  await send()
  await read()
  expect(await balance()).toEqual(before!)
})
