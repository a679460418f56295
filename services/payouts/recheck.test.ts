import { afterEach, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from './test-support'

let fixture: Fixture
afterEach(() => fixture?.[Symbol.asyncDispose]())

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
    60_000,
  )
})
