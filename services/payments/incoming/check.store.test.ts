import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { findDueWallets, leaseLooks, planLook, recordReport, storeFreeze } from '../losses/refund.store'
import { insertPayment } from '../payment.store'
import type { NewPayment } from '../payment.table'
import { isDue, leaseDue } from './check.store'

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallet = `0x${'11'.repeat(20)}` as const
const now = new Date()
const inMs = (ms: number) => new Date(now.getTime() + ms)

async function planned(nextCheckAt: Date): Promise<string> {
  const id = crypto.randomUUID()
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
    nextCheckAt,
  } as NewPayment
  return (await scratch.database.transaction((tx) => insertPayment(tx, row, 60_000)))()!.id
}

test('a payment is checked although the clock was set back by two hours since its check was planned', async () => {
  const { database } = scratch
  const due = () => database.read((db) => isDue(db, now))
  const leased = () => database.transaction((tx) => leaseDue(tx, now, 'others', 10))
  const waiting = await planned(inMs(3_600_000))
  expect(await due()).toEqual({ payments: false, wallets: false, looks: false })
  const late = await planned(inMs(7_220_000))
  expect(await due()).toEqual({ payments: true, wallets: false, looks: false })
  expect((await leased()).map(({ id }) => id)).toEqual([late])
  expect(await due()).toEqual({ payments: false, wallets: false, looks: false })
  expect(await leased()).toEqual([])
  expect(waiting).not.toBe(late)
})

test('a payment is checked although Postgres planned its check while its clock was an hour ahead', async () => {
  const { database } = scratch
  const id = await planned(new Date(Date.now() + 3_620_000))
  const due = () => database.read((db) => isDue(db, new Date()))
  const leased = async () => {
    const rows = await database.transaction((tx) => leaseDue(tx, new Date(), 'others', 10))
    return rows.filter((row) => row.id === id)
  }
  expect(await leased()).toEqual([])
  await database.transaction(async (tx) => {
    await tx.execute(sql`alter table payments.payments disable trigger stamp_change`)
    await tx.execute(sql`update payments.payments set changed_at = now() + interval '1 hour' where id = ${id}`)
    await tx.execute(sql`alter table payments.payments enable trigger stamp_change`)
  })
  expect(await due()).toMatchObject({ payments: true })
  expect(await leased()).toHaveLength(1)
  expect(await leased()).toEqual([])
})

test('a freeze is ordered again although the clock was set back by two hours since it was ordered', async () => {
  const { database } = scratch
  const due = async () => (await database.read((db) => findDueWallets(db, now, 10))).map((one) => one.wallet)
  const freeze = { wallet, frozen: true, frozenByOperator: false, nowMs: now.getTime() }
  await database.transaction((tx) => storeFreeze(tx, { ...freeze, retryAt: inMs(80_000) }))
  expect(await due()).toEqual([])
  await database.transaction((tx) => storeFreeze(tx, { ...freeze, retryAt: inMs(7_220_000) }))
  expect(await due()).toEqual([wallet])
  expect((await database.read((db) => isDue(db, now))).wallets).toBe(true)
})

test('an open dispute is asked for once it is due, by one instance', async () => {
  const { database } = scratch
  const dispute = { paymentId: 'pay_1', providerPaymentId: 'py-1', status: 'pending', origin: 'chargeback' } as const
  const record = (id: string, nextCheckAt: Date | null) =>
    database.transaction(async (tx) => {
      await recordReport(tx, { ...dispute, id })
      await planLook(tx, id, nextCheckAt)
    })
  await record('mi-dspt-later', inMs(60_000))
  await record('chargeback:txn_1', null)
  expect((await database.read((db) => isDue(db, now))).looks).toBe(false)
  await record('mi-dspt-due', inMs(-1_000))
  expect((await database.read((db) => isDue(db, now))).looks).toBe(true)
  const lease = () => database.transaction((tx) => leaseLooks(tx, now, { retryAt: inMs(3_600_000), rowsMax: 5 }))
  expect((await lease()).map(({ id }) => id)).toEqual(['mi-dspt-due'])
  expect(await lease()).toEqual([])
})
