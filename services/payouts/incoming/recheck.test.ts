import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { position } from '#shared/ledger/position'
import { waitUntil } from '#test/support/wait'
import { moveCashout } from '../cashout.store'
import { payAgain } from '../paying/pay'
import { type Detour, type Fixture, openFixture, txHash } from '../test-support'
import { receiveEvidence } from './receive'

let fixture: Fixture
afterEach(() => fixture?.[Symbol.asyncDispose]())

/** Returns a cash-out that ended by its only attempt, so that no other attempt can arrive after it is put back. */
const ended = ({ accountNumber = '1234567890', end = 'paid' } = {}) =>
  fixture.unhurried(async () => {
    const id = await fixture.taken({ bank: { accountNumber } })
    await waitUntil('its payout', async () => (await fixture.row(id)).providerPayoutId !== null)
    const { providerPayoutId } = await waitUntil(end, async () => {
      await payAgain(fixture.context, await fixture.row(id))
      const row = await fixture.row(id)
      return row.state === end && row
    })
    return { id, payoutId: providerPayoutId! }
  })

describe('a paid cash-out whose row is restored from a backup', () => {
  // guard: a payout is looked up before it is ordered again
  test.each(['taking', 'taken'] as const)(
    'as %s is not paid again, although the provider has forgotten its key',
    async (state) => {
      fixture = await openFixture({ webhooks: false })
      const { id } = await ended()
      let orders = 0
      const forgetful: Detour = (call) => {
        if (call.method !== 'POST') return undefined
        orders++
        return Response.json({ error_code: 'SERVER_ERROR', message: '' }, { status: 500 })
      }
      await fixture.detoured(forgetful, async () => {
        await fixture.putBack(id, state)
        // The relayer reports the take from before the restore again.
        if (state === 'taking') await fixture.relayed('take', id)
        await fixture.until(id, 'paid')
      })
      expect(orders).toBe(0)
      expect(await fixture.transfers(id)).toHaveLength(1)
    },
  )
})

test('a check of a paid cash-out opens no transaction unless the provider says something new', async () => {
  fixture = await openFixture({ webhooks: false })
  const { id } = await ended()
  const { database } = fixture.context
  let transactions = 0
  const transaction: typeof database.transaction = (work) => {
    transactions += 1
    return database.transaction(work)
  }
  const check = async () =>
    payAgain({ ...fixture.context, database: { ...database, transaction } }, await fixture.row(id))
  await check()
  expect(transactions).toBe(0)
  await database.run((db) => db.execute(sql`update payouts.payouts set provider_status = 'ACCEPTED' where id = ${id}`))
  await check()
  expect([transactions, (await fixture.row(id)).providerStatus]).toEqual([1, 'SUCCEEDED'])
})

describe('a check of a paid cash-out whose provider repeats its success', () => {
  const check = async (id: string) => payAgain(fixture.context, await fixture.row(id))
  const answering = (change: object): Detour => {
    return async (call, onward) => {
      const answer = await onward()
      return call.method === 'GET' ? Response.json({ ...((await answer.json()) as object), ...change }) : answer
    }
  }
  const inSuspense = async (payoutId: string) => {
    const lines = position(await fixture.booked(payoutId))
    return lines.filter(({ account }) => account === 'suspense').map(({ amount }) => amount)
  }

  // guard: a payout leaves suspense by the next answer that fits, also if it repeats what is known
  test.each([
    ['another amount', { amount: 90_000 }, 8_750n],
    ['a failure', { status: 'FAILED' }, -81_250n],
  ])('takes out of suspense what an earlier answer with %s had put there', async (_, change, minor) => {
    fixture = await openFixture({ webhooks: false, recheckAfterMs: 600_000 })
    const { id, payoutId } = await ended()
    await fixture.detoured(answering(change), () => check(id))
    expect(await inSuspense(payoutId)).toEqual([minor])
    await check(id)
    expect(await inSuspense(payoutId)).toEqual([])
    expect((await fixture.row(id)).state).toBe('paid')
  })

  test('fails if its payout is now of another reference', async () => {
    fixture = await openFixture({ webhooks: false, recheckAfterMs: 600_000 })
    const { id } = await ended()
    const other = answering({ reference_id: crypto.randomUUID() })
    const fault = await fixture.detoured(other, () => check(id).catch(String))
    expect(fault).toContain('under another reference')
  })
})

describe('a restored cash-out with an existing payout but no order in its row', () => {
  const isOrder = (call: Request) => call.method === 'POST' && call.url.includes('/payouts')
  const ordersDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let orders = 0
    const count: Detour = (call) => {
      if (isOrder(call)) orders += 1
      return undefined
    }
    await fixture.detoured(count, work)
    return orders
  }
  const delivery = (word: string, payoutId: string) =>
    JSON.stringify({ event: `payout.${word}`, data: { id: payoutId } })
  const restored = async (state: Parameters<Fixture['putBack']>[1], ...bank: Parameters<typeof ended>) => {
    const before = await ended(...bank)
    await fixture.putBack(before.id, state)
    return before
  }
  const kindsOf = async (id: string) =>
    (await fixture.oddities()).filter(({ payoutId }) => payoutId === id).map(({ kind }) => kind)

  // guard: a payout is looked up under every version of the API that was used before its first order
  test.each([
    ['v2', 'v3'],
    ['v3', 'v2'],
  ] as const)('is looked up in %s even if new payouts use %s', async (before, after) => {
    fixture = await openFixture({ webhooks: false, payoutsApi: before, recheckAfterMs: 600_000 })
    const id = await fixture.taken()
    await fixture.due(id)
    await waitUntil('an order', async () => (await fixture.transfers(id)).length === 1)
    const [order] = await fixture.transfers(id)
    // The payout may have succeeded already.
    await fixture.control(`payouts/${order!.id}/succeed`, {}).catch(() => {})
    await fixture.putBack(id, 'taking')
    await fixture.relayed('take', id)
    await fixture.database.run((db) => moveCashout(db, id, 'paying', { nextCheckAt: null }))
    const context = { ...fixture.context, provider: fixture.providerBy(after, before) }
    const orders = await ordersDuring(async () => payAgain(context, await fixture.row(id)))
    expect(orders).toBe(0)
    expect(await fixture.row(id)).toMatchObject({ state: 'paid', attempts: 0 })
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  // guard: AUSD of a cash-out whose payout may have reached the bank is not returned
  test.each(['failed', 'opening'] as const)(
    'keeps its AUSD if it is %s and its payout may have reached the bank, and returns it if the payout failed',
    async (state) => {
      fixture = await openFixture({ webhooks: false })
      const { id, payoutId } = await restored(state)
      const at = { word: 'ACCEPTED', status: 'pending', referenceId: id, payoutId } as const
      const amount = { amountMinor: 81_250n, currency: 'IDR', failureCode: null, reason: null }
      const tell = (change: object) =>
        fixture.database.transaction((tx) => receiveEvidence(tx, fixture.context, { ...at, ...amount, ...change }))
      await tell({})
      await fixture.relayed('take', id)
      expect((await fixture.row(id)).state).not.toBe('returning')
      expect(await fixture.sent(id)).not.toContain('relay.return')
      expect(fixture.alarms(id).map(({ msg }) => msg)).toContain('AUSD kept, as its payout exists')
      await tell({ word: 'FAILED', status: 'refused' })
      const failed: Detour = async (call, onward) => {
        if (!call.url.includes('reference_id=')) return undefined
        const found = (await (await onward()).json()) as { data: object[] }
        return Response.json({
          ...found,
          data: found.data.map((row) => ({ ...row, status: 'FAILED' })),
        })
      }
      await fixture.detoured(failed, () => fixture.relayed('take', id))
      expect(await fixture.row(id)).toMatchObject({ state: 'returning', reason: 'taken_late' })
    },
  )

  // guard: AUSD that arrives late is returned only after its payout was looked for
  test.each(['opening', 'failed'] as const)(
    'keeps its AUSD if it is %s and its payout is not known yet',
    async (state) => {
      fixture = await openFixture({ webhooks: false })
      const { id, payoutId } = await restored(state)
      let lookups = 0
      const downAtFirst: Detour = (call) => {
        const isDown = call.url.includes('reference_id=') && ++lookups === 1
        return isDown ? Response.json({ error_code: 'SERVER_ERROR' }, { status: 500 }) : undefined
      }
      await fixture.detoured(downAtFirst, () => fixture.relayed('take', id))
      expect(await fixture.row(id)).toMatchObject({ providerPayoutId: payoutId })
      expect(await fixture.sent(id)).not.toContain('relay.return')
      expect(await kindsOf(id)).toEqual(['payout_unexpected'])
    },
  )

  test.each(['opening', 'failed'] as const)(
    'becomes paid without an order by the statement of the runbook, if it is %s and its AUSD was kept',
    async (state) => {
      const runbook = readFileSync(join(import.meta.dir, '../../../infra/operations/runbook/alerts.md'), 'utf8')
      const [, statement] = /`AUSD kept, as its payout exists`\):.*`(update payouts\.payouts [^`]+)`/.exec(runbook)!
      fixture = await openFixture({ webhooks: false })
      const { id, payoutId } = await restored(state)
      await fixture.relayed('take', id)
      expect(await fixture.row(id)).toMatchObject({ providerPayoutId: payoutId })
      const orders = await ordersDuring(async () => {
        const before = await fixture.orders(id, 'relay.take')
        await fixture.database.run((db) => db.execute(sql.raw(statement!.replace('id = …', `id = '${id}'`))))
        await waitUntil('a repeat of the take', async () =>
          (await fixture.orders(id, 'relay.take')).some((one) => !before.includes(one)),
        )
        await fixture.relayed('take', id)
        await fixture.until(id, 'paid')
      })
      expect(orders).toBe(0)
      expect(await fixture.row(id)).toMatchObject({ reason: null, takeTxHash: txHash })
      expect(await fixture.transfers(id)).toHaveLength(1)
    },
  )

  // guard: a payout that the provider told of is followed, and none is ordered beside it
  test.each(['SUCCEEDED', 'ACCEPTED', 'A_NEW_WORD'])(
    'keeps the payout of a webhook (%s), and is not ordered even if no look-up finds it',
    async (status) => {
      fixture = await openFixture({ webhooks: false })
      const { id, payoutId } = await restored('taking')
      const other: Detour = async (call, onward) =>
        call.url.endsWith(payoutId)
          ? Response.json({ ...((await (await onward()).json()) as object), status })
          : undefined
      const told = () => fixture.deliver('ID', delivery('updated', payoutId), crypto.randomUUID())
      await fixture.detoured(other, told)
      expect(await fixture.row(id)).toMatchObject({ providerPayoutId: payoutId })
      expect(await kindsOf(id)).toEqual(['payout_unexpected'])
      const none: Detour = (call) =>
        call.url.includes('reference_id=')
          ? Response.json({ has_more: false, data: [] })
          : isOrder(call)
            ? expect.unreachable()
            : undefined
      await fixture.detoured(none, async () => {
        await fixture.relayed('take', id)
        await fixture.until(id, 'paid')
      })
      expect(await fixture.transfers(id)).toHaveLength(1)
      expect(await fixture.sent(id)).not.toContain('relay.return')
    },
  )

  test('is returned, not ordered, after a webhook reported its payout failed', async () => {
    fixture = await openFixture({ webhooks: false })
    const refused = { accountNumber: '999999', end: 'returning' }
    const { id, payoutId } = await restored('taking', refused)
    await fixture.deliver('ID', delivery('failed', payoutId), crypto.randomUUID())
    expect(await fixture.row(id)).toMatchObject({ state: 'taking', providerPayoutId: payoutId })
    const orders = await ordersDuring(async () => {
      await fixture.relayed('take', id)
      await fixture.until(id, 'returning')
    })
    expect(orders).toBe(0)
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('follows the payout that reached the bank if another one failed', async () => {
    fixture = await openFixture({ webhooks: false })
    const { id, payoutId } = await restored('taking', { accountNumber: '999999', end: 'returning' })
    await fixture.deliver('ID', delivery('failed', payoutId), crypto.randomUUID())
    const details = { account_number: '1234567890', account_holder_name: 'Sari Dewi' }
    const order = { reference_id: id, channel_code: 'ID_BCA', amount: 81_250, currency: 'IDR' }
    const key = { 'Idempotency-key': crypto.randomUUID() }
    await fixture.provide('/v2/payouts', { ...order, channel_properties: details }, key)
    const before = await fixture.orders(id, 'relay.return')
    await fixture.relayed('take', id)
    const paid = await fixture.until(id, 'paid')
    expect(paid.providerPayoutId).not.toBe(payoutId)
    expect(await fixture.orders(id, 'relay.return')).toEqual(before)
  })

  test("keeps the payout found in the provider's list", async () => {
    fixture = await openFixture({ webhooks: false })
    const { id, payoutId } = await restored('taking')
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ state: 'taking', providerPayoutId: payoutId })
  })
})

describe('a cash-out paid recently', () => {
  test.each([
    ['ahead of', 600_000],
    ['behind', -600_000],
  ])("is watched for a reversal by the database's clock when the process's clock is %s it", async (_, aheadMs) => {
    fixture = await openFixture({ webhooks: false, reversalWatchMs: 60_000, aheadMs })
    const id = await fixture.taken()
    const { providerPayoutId } = await fixture.until(id, 'paid')
    await fixture.control(`payouts/${providerPayoutId}/reverse`, {})
    const row = await fixture.until(id, 'returning')
    expect(row).toMatchObject({ reason: 'bank_reversed' })
  })
})
