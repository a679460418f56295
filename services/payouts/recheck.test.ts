import { afterEach, describe, expect, test } from 'bun:test'
import { type Detour, type Fixture, openFixture } from './test-support'

let fixture: Fixture
afterEach(() => fixture?.[Symbol.asyncDispose]())

describe('a cash-out that was paid, whose row is put back from a backup', () => {
  test.each(['taking', 'taken'] as const)(
    'as %s is not paid again, although the provider has forgotten its key',
    async (state) => {
      fixture = await openFixture({ webhooks: false })
      const id = await fixture.taken()
      await fixture.until(id, 'paid')
      let orders = 0
      const forgetful: Detour = (call) => {
        if (call.method !== 'POST') return undefined
        orders++
        return Response.json({ error_code: 'SERVER_ERROR', message: '' }, { status: 500 })
      }
      await fixture.detoured(forgetful, async () => {
        await fixture.putBack(id, state)
        // The relayer reports again what was taken before the backup was restored.
        if (state === 'taking') await fixture.relayed('take', id)
        await fixture.until(id, 'paid')
      })
      expect(orders).toBe(0)
      expect(await fixture.transfers(id)).toHaveLength(1)
    },
  )
})

describe('a cash-out that was just paid', () => {
  test.each([
    ['ahead of', 600_000],
    ['behind', -600_000],
  ])(
    "is watched for a reversal by the database's clock, when the process's is %s it",
    async (_, aheadMs) => {
      fixture = await openFixture({ webhooks: false, reversalWatchMs: 60_000, aheadMs })
      const id = await fixture.taken()
      const { providerPayoutId } = await fixture.until(id, 'paid')
      await fixture.control(`payouts/${providerPayoutId}/reverse`, {})
      const row = await fixture.until(id, 'returning')
      expect(row).toMatchObject({ reason: 'bank_reversed' })
    },
  )
})
