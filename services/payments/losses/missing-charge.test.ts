import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { listings } from '../schema.store'
import { openFixture } from '../test-support'
import { actionsOn } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { ending, holdFor, refund, dispute, isExtended } = actionsOn(fixture)

describe('a row of the list whose charge is not found', () => {
  const { account, window } = listings
  /** Moves the row before the time from which the last check of the hold reads the list. */
  const pastRow = () =>
    fixture.database.run((db) =>
      db
        .insert(listings)
        .values({
          account: 'ID',
          window: 'recent',
          dueAt: sql`now() + interval '1 hour'`,
          readAt: new Date(fixture.context.clock() + 700_000),
        })
        .onConflictDoUpdate({
          target: [account, window],
          set: { readAt: sql`excluded.read_at` },
        }),
    )
  afterEach(() => fixture.database.run((db) => db.update(listings).set({ readAt: null })))

  test.each([
    ['dispute', (id: string) => dispute(id)],
    [
      'refund',
      async (id: string) => {
        await refund(id)
        await fixture.control('faults', {
          webhooks: { drop: 1 },
          api: { hidePayments: 1, hideRefunds: 1 },
        })
      },
    ],
  ])('keeps the hold from ending until its %s is counted', async (_, happen) => {
    const id = await ending()
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hidePayments: 1 } })
    await happen(id)
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ state: 'held', refundedMinor: 0n })
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await pastRow()
    await fixture.recheck(0)
    expect((await fixture.row(id))!.refundsCheckedAt).toBeNull()
    expect(await isExtended(id)).toBe(true)
    await fixture.list()
    await fixture.becomes(id, { state: 'revoking', refundedMinor: 50_000n })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
  })

  test('delays the hold no longer once its dispute is won', async () => {
    const id = await ending()
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hidePayments: 1 } })
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    holdFor(4)
    await fixture.recheck(20_000)
    expect((await fixture.row(id))!.refundsCheckedAt).not.toBeNull()
  })
})
