import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { type Database, DatabaseRefused, type Tx } from '#platform/db/open'
import { announcement, announceWith } from '#platform/db/outbox.store'
import { CreditOrdered } from '#shared/messages/relay'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { waitUntil } from '#test/support/wait'
import { bookStep } from './ledger/book'
import {
  findPayment,
  insertPayment,
  leaseOpening,
  lockPayment,
  moveLocked,
  movePayment,
  recordPayment,
} from './payment.store'
import type { NewPayment, PaymentRow } from './payment.table'
import { journal, outbox } from './schema.store'

let scratch: ScratchDatabase
let database: Database
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
  database = scratch.database
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallet = `0x${'11'.repeat(20)}` as const
let made = 0
async function opening(): Promise<PaymentRow> {
  const id = `pay_${String(++made).padStart(22, '0')}`
  const row = {
    id,
    kind: 'topup',
    state: 'opening',
    wallet,
    pair: 'USD/IDR',
    currency: 'IDR',
    account: 'ID',
    rateMinorPerUsd: 16_250n,
    fiatMinor: 50_000n,
    ausdMicro: 3_076_923n,
    quoteId: id,
    requestFingerprint: 'sari',
  } as NewPayment
  return (await database.transaction((tx) => insertPayment(tx, row, 60_000)))()!
}

function pay(tx: Tx, before: PaymentRow) {
  const set = {
    providerPaymentId: `py-${before.id}`,
    paidMinor: 50_000n,
    held: false,
    onchainMicro: 3_076_923n,
  }
  const order = { refId: before.id, wallet, ausd: '3076923', held: false }
  const told = announceWith(tx, outbox, [announcement(CreditOrdered, before.id, order)])
  const booked = bookStep(before, { ...before, ...set, state: 'paid' })
  const step = { from: before.state, to: 'paid', nextCheckAt: null, set } as const
  moveLocked(tx, before.id, { ...step, sideWrites: [booked, told?.statement] })
}
const countOf = async (id: string) => {
  const [orders, lines] = await Promise.all([
    database.read((db) => db.select().from(outbox).where(eq(outbox.id, id))),
    database.read((db) => db.select().from(journal).where(eq(journal.item, id))),
  ])
  return { orders: orders.length, lines: lines.length }
}

async function countWaiting(): Promise<number> {
  const waiting = await database.read((db) =>
    db.execute(sql`select from pg_stat_activity where wait_event_type = 'Lock'`),
  )
  return waiting.length
}

describe('the row of a payment', () => {
  test('is moved, ordered and booked in one statement', async () => {
    const before = await opening()
    await database.transaction((tx) => pay(tx, before))
    expect(await database.read((db) => findPayment(db, before.id))).toMatchObject({ state: 'paid' })
    expect(await countOf(before.id)).toMatchObject({ orders: 1, lines: expect.any(Number) })
    expect((await countOf(before.id)).lines).toBeGreaterThan(1)
  })

  // guard: a payment moves only from the state that was read
  // guard: a step that is not taken fails its transaction
  // guard: an order of a step is sent only if the step was taken
  // together with: a step that is not taken fails its transaction
  // guard: a posting of a step is booked only if the step was taken
  // together with: a step that is not taken fails its transaction
  test('moved by another transaction first stays unchanged, without orders or entries', async () => {
    const before = await opening()
    const ended = { from: 'opening', to: 'expired', nextCheckAt: null } as const
    expect(await database.run((db) => movePayment(db, before.id, ended))).toBeDefined()
    const late = database.transaction((tx) => pay(tx, before)).catch((error) => error)
    await late
    expect(await countOf(before.id)).toEqual({ orders: 0, lines: 0 })
    expect(await late).toBeInstanceOf(DatabaseRefused)
  })

  // guard: one instance at a time opens the checkout of a payment
  test('is opened by one instance at a time, and by another after that one dies', async () => {
    const { id } = await opening()
    const leases = () => Promise.all([1, 2].map(() => database.run((db) => leaseOpening(db, id, 60_000))))
    expect(await leases()).toEqual([undefined, undefined])
    await database.run((db) => recordPayment(db, id, { openingUntil: new Date(0) }))
    expect((await leases()).filter((one) => one !== undefined)).toHaveLength(1)
    const ahead = new Date(Date.now() + 7_200_000)
    await database.run((db) => recordPayment(db, id, { openingUntil: ahead }))
    // The clock of Postgres was ahead when the lease was written.
    expect((await leases()).filter((one) => one !== undefined)).toHaveLength(1)
  })

  // guard: one transaction at a time decides about a payment
  test('is locked together with all payments of its wallet', async () => {
    const [first, second] = [await opening(), await opening()]
    const order: string[] = []
    const isLocked = Promise.withResolvers<void>()
    const decided = database.transaction(async (tx) => {
      await lockPayment(tx, first.id)
      isLocked.resolve()
      await waitUntil('both others', async () => order.length + (await countWaiting()) === 2)
      order.push('the first')
    })
    await isLocked.promise
    const others = [first, second].map((payment) =>
      database.transaction(async (tx) => {
        await lockPayment(tx, payment.id)
        order.push('another')
      }),
    )
    await Promise.all([decided, ...others])
    expect(order).toEqual(['the first', 'another', 'another'])
  })
})
