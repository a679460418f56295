import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { reverse } from '#shared/ledger/journal.store'
import { bookCorrected } from '#shared/ledger/keeping'
import type { StatementEntry } from '#shared/messages/statement'
import { positions } from '../ledger/tables'
import { inbox, journal } from '../schema.store'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

test('a statement does not list a payment again in the period in which its books were corrected', async () => {
  const wallet = newWallet()
  const { ok } = await fixture.topup({ wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() })
  const id = ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'credited' })
  const rows = () => fixture.database.read((db) => db.select().from(journal).where(eq(journal.item, id)))
  const booked = await rows()
  const to = new Date(Math.max(...booked.map(({ bookedAt }) => bookedAt.getTime())) + 1).toISOString()
  const listed = async (from: string, until: string) => {
    const answered = (await fixture.statement({ wallet, from, to: until })).ok as unknown as { items: StatementEntry[] }
    return answered.items.map((entry) => entry.id)
  }
  const { posting } = booked.find(({ account }) => account === 'collateral')!
  await fixture.database.transaction((tx) => reverse(tx, journal, { posting, reason: 'ticket 12' }))
  await bookCorrected({ ...fixture.context, journal, inbox, positions })
  expect(new Set((await rows()).map(({ event }) => event))).toContain('booked anew')
  expect(await listed('2026-01-01T00:00:00Z', to)).toEqual([id])
  expect(await listed(to, '2099-01-01T00:00:00Z')).toEqual([])
})
