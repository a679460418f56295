import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actionsOn, ausd, heldOps } from '#test/support/contract-actions'
import { openContractsFixture } from '#test/support/contracts'

// The hold is so long that none ends while the others are made.
const fixture = await openContractsFixture({ holdSeconds: 100_000 })
const { act, answer, read, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)

for (let first = 1; first <= 200; first += 50) {
  const ops = heldOps('heldTopUp', first, 50, ausd('1'))
  await fixture.send('relayer', 'creditLine', 'many', [ops])
}
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)
const seen = () => fixture.accountOf('ana')

describe('an account with 200 held top-ups', () => {
  test('all 200 top-ups are pending', async () => {
    expect(await seen()).toMatchObject({ pendingShares: 200n * 10n ** 12n, collateral: 0n })
  })

  test('relayed operations cost no more for an account with 200 held top-ups', async () => {
    const costs = [
      await act('topUp', 900, ausd('1'), true),
      await act('topUp', 901, ausd('1')),
      await act('repayFor', 902, ausd('1'), { held: false }),
      await act('revokeTopUp', 100),
    ]
    for (const sent of costs) expect(sent.gasUsed).toBeLessThan(190_000n)
  })

  test('views count all top-ups once their holds end, without the revoked ones', async () => {
    for (const ref of [1, 7, 200]) await act('revokeTopUp', ref)
    expect(await seen()).toMatchObject({ collateral: 0n })
    await untilReleased(199)
    expect(await seen()).toMatchObject({
      collateral: ausd('197'),
      pendingShares: 0n,
      pendingUntil: 0n,
    })
  })

  // guard: a freed bucket is folded once
  test('one draw borrows all that 200 released top-ups allow', async () => {
    await untilReleased(200)
    expect(await seen()).toMatchObject({ limit: ausd('100'), available: ausd('100') })
    expect(await answer('draw', ausd('100') + 1n)).toBe('LimitExceeded')
    const sent = await act('draw', ausd('100'))
    expect(sent.gasUsed).toBeLessThan(300_000n)
    expect(await seen()).toMatchObject({ limit: ausd('100'), available: 0n, drawn: ausd('100') })
  })

  test('one withdrawal takes all that 200 released top-ups gave', async () => {
    await untilReleased(200)
    await act('withdraw', ausd('200'))
    expect(await seen()).toMatchObject({ collateral: 0n, shares: 0n })
    expect(await read('totalShares')).toBe(0n)
  })

  test('pendingUntil ignores a revoked top-up that would have ended last', async () => {
    const { pendingUntil } = await seen()
    await fixture.warp(20_000)
    await act('topUp', 900, ausd('1'), true)
    expect((await seen()).pendingUntil).toBeGreaterThan(pendingUntil)
    await act('revokeTopUp', 900)
    expect((await seen()).pendingUntil).toBe(pendingUntil)
  })
})
