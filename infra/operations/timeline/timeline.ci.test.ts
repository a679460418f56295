import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { consumers } from '#infra/nats/topology'
import { accessOf, type Operator, openOperator } from '#infra/operations/cli/operator'
import { type Place, placeOf } from '#infra/operations/place'
import type { Trace, TracedItem } from '#infra/operations/timeline/entry'
import { readSubjects } from '#infra/operations/timeline/messages'
import { readTrace } from '#infra/operations/timeline/trace'
import { okOf } from '#shared/client/client'
import { query } from '#test/support/database'
import { creditedTopUp } from '#test/support/flows'
import { newUser, verifiedUser } from '#test/support/people'
import { cashoutBody, entryIn } from '#test/support/requests'
import { operate, sharedStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'
import { atProvider } from './provider'

let stack: RunningStack
let person: Person
let operator: Operator
let provider: Place['provider']

beforeAll(async () => {
  stack = await sharedStack()
  operator = openOperator(accessOf(stack.info))
  provider = placeOf(stack.info).provider
  person = await verifiedUser(stack)
})
afterAll(() => operator?.[Symbol.asyncDispose]())

const traceOf = (id: string) => readTrace({ ...operator, others: [atProvider(operator.sql, provider)] }, id)
const wholeTraceOf = (id: string) =>
  waitUntil('a trace of which nothing is unseen', async () => {
    const trace = await traceOf(id)
    return trace.unseen.length === 0 && trace
  })
/** Returns the entries as `source event`. */
const seenIn = ({ entries }: Trace) => new Set(entries.map(({ where, what }) => `${where} ${what}`))

describe('trace of a top-up', () => {
  let paymentId: string
  beforeAll(async () => {
    paymentId = (await creditedTopUp(stack, person)).id
  })

  test('trace shows a top-up in every service, from its quote to the chain', async () => {
    const trace = await wholeTraceOf(paymentId)
    expect(trace.items).toMatchObject([
      { kind: 'topup', id: paymentId, state: 'credited', wallet: person.wallet.toLowerCase() },
    ])
    const seen = seenIn(trace)
    for (const one of [
      'pricing quote',
      'payments row',
      'payments paid',
      'payments booked',
      'bus message',
      'chain-relayer order',
      'chain-relayer lane',
      'chain-relayer attempt',
      'chain final',
      'provider delivery',
      'provider checkout',
      'provider payment',
    ])
      expect(seen).toContain(one)
    const said = trace.entries.map(({ says }) => says).join('\n')
    expect(said).toContain('payments sent relay.credit, handled by chain-relayer')
    expect(said).toContain('chain-relayer sent relay.credit.settled, handled by payments')
    expect(said).toContain('top-up of Rp 50,000 for 3.076923 AUSD, by qr')
    expect(trace.entries.filter(({ isOdd }) => isOdd)).toEqual([])
  })

  test('trace finds a top-up by every id that it has anywhere', async () => {
    const { items, entries } = await traceOf(paymentId)
    const { quote, checkout, request, payment, transaction } = items[0]!.facts
    const ofKind = (where: string, what: string) =>
      entries.find((entry) => entry.where === where && entry.what === what)!.id
    const ids = [
      quote,
      checkout,
      request,
      payment,
      ofKind('chain-relayer', 'order'),
      ofKind('bus', 'message'),
      ofKind('provider', 'delivery'),
      `${paymentId}.1`,
    ]
    const foundBy = async (id: string) => (await traceOf(id)).items.map((item) => item.id)
    for (const id of ids) expect([id, await foundBy(id!)]).toEqual([id, [paymentId]])
    // A transaction may carry payments of other users too.
    for (const hash of [transaction, ofKind('chain-relayer', 'attempt')])
      expect(await foundBy(hash!)).toContain(paymentId)
  })

  test('the trace of a top-up shows operator commands and breaks of the books', async () => {
    const [{ id } = { id: '' }] = await query<{ id: string }>(
      stack,
      `insert into ops.commands (verb, target, cause, reason, asked_by)
        values ('review resolve', '${paymentId}', '1', 'ticket 12', 'sari') returning id::text`,
    )
    await query(stack, `insert into ops.outcomes (command_id, outcome, said) values ('${id}', 'done', 'accepted')`)
    await query(
      stack,
      `insert into books.breaks (rule, item, asset, amount, about)
        values ('payment_chain', '${paymentId}', 'AUSD', 1, 'one more')`,
    )
    const { entries } = await traceOf(paymentId)
    expect(entries.find(({ what }) => what === 'command')?.says).toBe(
      'sari requested review resolve (ticket 12), done: accepted',
    )
    expect(entries.find(({ what }) => what === 'break')).toMatchObject({
      says: 'payment_chain: one more',
      isOdd: true,
    })
    await query(stack, `update books.breaks set closed_at = now() where item = '${paymentId}'`)
  })
})

describe('trace of a cash-out', () => {
  test('trace shows a cash-out from its quote to the bank, without the bank account', async () => {
    const payee = await newUser(stack, { ausdMicro: 20_000_000n })
    const body = await cashoutBody(stack, payee)
    const { payoutId } = (await payee.post('/cashouts', body)).body
    await entryIn(payee, payoutId, 'paid')
    const trace = await wholeTraceOf(payoutId)
    expect(trace.items).toMatchObject([{ kind: 'cashout', id: payoutId, state: 'paid' }])
    for (const one of ['payouts call', 'payouts paid', 'chain-relayer attempt', 'provider payout'])
      expect(seenIn(trace)).toContain(one)
    expect(JSON.stringify(trace)).not.toContain(body.bank.accountNumber)
    expect(JSON.stringify(trace)).not.toContain(body.bank.accountHolderName)
    const { quote, payout, taken } = trace.items[0]!.facts
    for (const id of [quote, payout]) expect((await traceOf(id!)).items.map((item) => item.id)).toEqual([payoutId])
    // A transaction may carry orders of other users too.
    expect((await traceOf(taken!)).items.map((item) => item.id)).toContain(payoutId)
  })
})

test('trace shows a send from its order to the chain, and finds it by its transaction', async () => {
  const sender = await verifiedUser(stack, { ausdMicro: 5_000_000n })
  const authorization = await sender.sign({ to: person.wallet, valueMicro: 1_500_000n })
  const { sendId } = okOf(await sender.api.send({ authorization }))
  await sender.api.waitFor(sendId, { everyMs: 100 })
  const trace = await traceOf(sendId)
  expect(trace.items).toMatchObject([{ kind: 'send', state: 'settled', facts: { cause: sendId } }])
  expect(seenIn(trace)).toContain('chain-relayer attempt')
  const { transaction } = trace.items[0]!.facts
  expect((await traceOf(transaction!)).items).toEqual(trace.items as TracedItem[])
})

test('trace shows a wallet with its newest items, in upper or lower case', async () => {
  const { items, entries } = await traceOf(person.wallet.toUpperCase().replace('0X', '0x'))
  expect(items.map(({ kind }) => kind)).toEqual(['wallet', 'topup'])
  expect(items[0]!.state).toBe('verified')
  expect(entries.some(({ says }) => says.startsWith('verify '))).toBe(true)
  const [{ ref } = { ref: '' }] = await query<{ ref: string }>(
    stack,
    `select provider_ref as ref from gateway.identities
      where wallet = '${person.wallet.toLowerCase()}'`,
  )
  expect((await traceOf(ref)).items).toEqual(items as TracedItem[])
})

describe('trace also finds', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const sender = `0x${'5'.repeat(40)}`
  beforeAll(async () => {
    await query(
      stack,
      `insert into books.chain_moves
          (tx_hash, log_index, block, moved_at, kind, wallet, ausd_micro)
        values ('${hash}', 3, 1, now(), 'in', '${sender}', 5000000)`,
    )
  })
  afterAll(() => query(stack, `delete from books.chain_moves where tx_hash = '${hash}'`))

  test('trace finds a transaction without a row of ours, also without its 0x', async () => {
    for (const id of [hash, hash.slice(2)]) {
      const { code, said } = await operate(stack, 'trace', id)
      expect(said).toContain(`5.000000 AUSD  [${hash}:3]`)
      expect(said).toStartWith(`no item has the id ${id}; related events:`)
      expect(code).toBe(0)
    }
  })

  test('trace finds a break by its number, as the books print it', async () => {
    const [{ id } = { id: '' }] = await query<{ id: string }>(
      stack,
      `insert into books.breaks (rule, item, asset, amount, about)
        values ('treasury_moved', '${hash}:3', 'AUSD', 5, 'nobody''s') returning id::text`,
    )
    for (const asked of [id, `#${id}`, hash])
      expect((await traceOf(asked)).entries).toContainEqual(
        expect.objectContaining({ what: 'break', says: "treasury_moved: nobody's" }),
      )
    await query(stack, `update books.breaks set closed_at = now() where id = ${id}`)
  })

  test('trace finds a lane and the treasury by their addresses', async () => {
    const [{ address } = { address: '' }] = await query<{ address: string }>(
      stack,
      'select address from chain_relayer.lane order by next_nonce desc limit 1',
    )
    const lane = await traceOf(address)
    expect(lane.items).toMatchObject([{ kind: 'lane', id: address, state: 'sends' }])
    expect(lane.entries.length).toBeGreaterThan(0)
    const { said } = await operate(stack, 'trace', stack.info.chain.treasury)
    expect(said).toStartWith(`treasury ${stack.info.chain.treasury.toLowerCase()}`)
    expect(said).toContain(`5.000000 AUSD, ${sender}`)
  })

  test('trace finds a signed authorization by wallet and nonce', async () => {
    const signer = await verifiedUser(stack, { ausdMicro: 5_000_000n })
    const authorization = await signer.sign({ to: person.wallet, valueMicro: 1_000_000n })
    const { sendId } = okOf(await signer.api.send({ authorization }))
    const { items } = await traceOf(`${signer.wallet}:${authorization.nonce}`)
    expect(items).toMatchObject([{ kind: 'send', facts: { cause: sendId } }])
  })
})

test('trace reports an unknown id as not found', async () => {
  for (const id of ['nothing', `0x${'0'.repeat(64)}`, 'dlv_0000000000000000000000'])
    expect(await wholeTraceOf(id)).toEqual({ id, items: [], entries: [], unseen: [] })
  const { code, said } = await operate(stack, 'trace', 'nothing')
  expect(code).toBe(1)
  expect(said).toBe('nothing found for nothing; `find` searches by amount, time, receipt or bank account')
})

test('trace names the parts it cannot read and shows all others', async () => {
  const { natsPassword: _, ...ops } = stack.info.ops
  const lame = openOperator(accessOf({ ...stack.info, ops: { ...ops, natsPassword: 'wrong' } }))
  const [{ id } = { id: '' }] = await query<{ id: string }>(
    stack,
    `select id from payments.payments where state = 'credited' limit 1`,
  )
  const trace = await readTrace({ ...lame, others: [atProvider(lame.sql, undefined)] }, id)
  await lame[Symbol.asyncDispose]()
  expect(trace.unseen.map(({ what }) => what)).toEqual(['webhook deliveries', 'the provider'])
  expect(trace.items).toHaveLength(1)
  expect(seenIn(trace)).toContain('chain-relayer attempt')
})

test('trace knows from the consumers which messages were read', () => {
  const { WEBHOOKS: _, ...ours } = consumers
  // The integrator records nothing in this database.
  const plans = Object.values(ours)
    .flat()
    .filter(({ durable_name: reader }) => reader !== 'integrator')
  const subjects = plans.flatMap((plan) => plan.filter_subjects ?? [])
  expect([...readSubjects].sort()).toEqual([...new Set(subjects)].sort())
})
