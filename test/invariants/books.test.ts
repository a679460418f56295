import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { type ChainBooks, readChainBooks } from '#infra/ops/books-chain'
import { checkBooks } from '#infra/ops/books-check'
import { type Rows, readRows } from '#infra/ops/books-rows'
import { placeOf } from '#infra/ops/place'
import { checkRecord } from '#infra/ops/record-check'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { ownStack } from '../support/stack'
import { beginFlows, type Flow, flowsEnding } from './workload'

const seed = Number(process.env.WORKLOAD_SEED ?? 20_261_121)
let stack: Stack
let people: Person[]
let flows: Flow[]

beforeAll(async () => {
  stack = await ownStack({ terms: { holdSeconds: 15, minCycleSeconds: 0 } })
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
  await flowsEnding(flows, 60_000)
}, 150_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

describe('after a random workload in a world that loses, doubles, reorders and fails', () => {
  let rows: Rows
  let chain: ChainBooks
  beforeAll(async () => {
    rows = await readRows(stack.adminUrl)
    chain = await readChainBooks(placeOf(stack.info))
  })

  test('the books of the services, the chain and the provider balance', async () => {
    expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  })

  test('every payment that brought money has exactly one effect, and no other has any', () => {
    for (const { id, refs, state, liveMicro } of rows.payments) {
      const live = refs.at(-1)
      const all = chain.effects.filter((one) => one.ref === live)
      const effects = all.filter(({ what }) => what !== 'revoke')
      const sumMicro = all.reduce(
        (sum, { what, ausdMicro }) => (what === 'revoke' ? sum - ausdMicro : sum + ausdMicro),
        0n,
      )
      const due = ['credited', 'repaid', 'revoked'].includes(state) ? liveMicro : 0n
      expect({ id, sumMicro }).toEqual({ id, sumMicro: due })
      // A settlement of more than is owed repays and credits the rest: one of each, never two.
      const kinds = effects.map(({ what }) => what)
      expect(new Set(kinds).size).toBe(kinds.length)
    }
  })

  test('every cash-out has at most one transfer, one take and one return', async () => {
    const { payouts } = await outsideOf(stack.info).book()
    for (const { id, takeKey, returnNonce, state } of rows.payouts) {
      const takes = chain.moves.filter(({ from, nonce }) => `${from}:${nonce}` === takeKey)
      const returns = chain.moves.filter(({ nonce }) => nonce === returnNonce)
      const transfers = payouts!.filter((payout) => payout.reference_id === id)
      const counts = [transfers.length, takes.length, returns.length]
      expect({ id, counts }).toEqual({ id, counts: [1, 1, state === 'returned' ? 1 : 0] })
    }
  })

  test.each([0, 1, 2, 3])('the record of person %d is what the chain says', async (index) => {
    expect(await checkRecord(placeOf(stack.info), people[index]!.wallet)).toEqual([])
  })
})
