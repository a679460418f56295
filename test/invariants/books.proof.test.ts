import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkBooks } from '#infra/books/reconcile'
import { outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { placeOf } from '#infra/ops/place'
import { checkRecord } from '#infra/ops/record/record-check'
import { query } from '../support/database'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { ownStack } from '../support/stack'
import { beginFlows, type Flow, flowsEnding } from './workload'

const seed = Number(process.env.WORKLOAD_SEED ?? 20_261_121)
let stack: Stack
let people: Person[]
let flows: Flow[]

beforeAll(async () => {
  stack = await ownStack({ terms: { holdSeconds: 20, minCycleSeconds: 0 } })
  const outside = outsideOf(stack.info)
  people = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const person = await verifiedUser(stack, { ausdMicro: 100_000_000n, wei: 10n ** 19n })
      const terms = { pair: 'USD/IDR', amount: '500000', method: 'qr' } as const
      const { paymentId, ausd } = await openCheckout(person, terms)
      await outside.pay(paymentId, 'QRIS')
      await person.until('collateral', (me) => me.collateral?.value === ausd)
      return person
    }),
  )
  await outside.faults({
    seed,
    webhooks: { drop: 0.3, duplicate: 0.5, reorder: true },
    api: { errorRate: 0.1, errorAfterAccept: 0.05 },
  })
  flows = await beginFlows(stack, people, { count: 22, seed })
  await flowsEnding(flows, 120_000)
})
afterAll(() => stack?.[Symbol.asyncDispose]())

describe('after a random workload in a world that loses, doubles, reorders and fails', () => {
  let found: string[]
  beforeAll(async () => {
    found = await checkBooks(placeOf(stack.info), stack.adminUrl)
  })

  test('the books of the services, the chain and the provider balance', () => {
    expect(found).toEqual([])
  })

  test('every payment that brought money has exactly one effect, and no other has any', async () => {
    const payments = await query<Record<'id' | 'state' | 'live' | 'sum' | 'kinds', string>>(
      stack,
      `select id, state, live_micro::text as live,
        coalesce(sum(case m.kind when 'revoke' then -m.ausd_micro else m.ausd_micro end), 0)::text as sum,
        coalesce(string_agg(m.kind, ' ') filter (where m.kind <> 'revoke'), '') as kinds
      from payments.payments p left join (
        select n.item, n.part, m.* from books.names n join books.chain_moves m on m.key = n.key
      ) m on m.item = p.id and m.part = p.part group by p.id`,
    )
    expect(payments.length).toBeGreaterThan(10)
    for (const { id, state, live, sum, kinds } of payments) {
      const due = ['credited', 'repaid', 'revoked'].includes(state) ? live : '0'
      expect({ id, sum }).toEqual({ id, sum: due })
      // A settlement of more than is owed repays and credits the rest: one of each, never two.
      const effects = kinds.split(' ')
      expect(new Set(effects).size).toBe(effects.length)
    }
  })

  test('every cash-out has at most one transfer, one take and one return', async () => {
    const { payouts } = await outsideOf(stack.info).book()
    const rows = await query<{ id: string; state: string; takes: number; returns: number }>(
      stack,
      `select id, state, count(*) filter (where m.named = 'take')::int as takes,
        count(*) filter (where m.named = 'return')::int as returns
      from payouts.payouts p left join (
        select n.item, n.kind as named from books.names n join books.chain_moves m on m.key = n.key
      ) m on m.item = p.id group by p.id`,
    )
    expect(rows.length).toBeGreaterThan(2)
    for (const { id, state, takes, returns } of rows) {
      const transfers = payouts!.filter((payout) => payout.reference_id === id)
      const counts = [transfers.length, takes, returns]
      expect({ id, counts }).toEqual({ id, counts: [1, 1, state === 'returned' ? 1 : 0] })
    }
  })

  test.each([0, 1, 2, 3])('the record of person %d is what the chain says', async (index) => {
    expect(await checkRecord(placeOf(stack.info), people[index]!.wallet)).toEqual([])
  })
})
