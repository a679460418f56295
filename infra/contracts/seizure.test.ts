import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, statedBalances } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'

// The hold outlasts term and grace, so that a default can meet held collateral.
const fixture = await openContractsFixture({ holdSeconds: 900_000, initialRatioBps: 9_000 })
const { act, answer, holdOf, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')

/**
 * Leaves Ana with a debt of 69 units and 60 shares worth 59. Only rounding leaves a debt above the collateral: near the
 * highest share price, each unit repaid from collateral burns two shares.
 */
async function owe() {
  await act('topUp', 100, 1n, false, 'budi')
  await act('addYield', 1_999_970n)
  await act('topUp', 101, 100n)
  await act('draw', 89n)
  for (let repaid = 0; repaid < 20; repaid++) await act('repayFromCollateral', 1n)
  expect(await seen()).toMatchObject({ shares: 60n, collateral: 59n, drawn: 69n })
  await fixture.warp(recordingSeconds + 88_201)
}

describe('a default with too little collateral', () => {
  test('a default leaves the uncovered debt owed, and later collateral covers it', async () => {
    await owe()
    const [marked] = (await act('markDefault')).events
    expect(marked).toMatchObject({
      eventName: 'DefaultMarked',
      args: { seized: 59n, stillOwed: 10n },
    })
    expect(await seen()).toMatchObject({ shares: 0n, drawn: 10n, cycles: 1n })
    await act('topUp', 9, 30n)
    expect(await answer('withdraw', 1n)).toBe('LimitExceeded')
    expect((await act('seizeMore')).events).toMatchObject([
      { eventName: 'CollateralSeized', args: { amount: 10n, shares: 11n, drawnAfter: 0n } },
    ])
    expect(await answer('withdraw', 1n)).toBe('accepted')
    expect(await answer('seizeMore')).toBe('NothingOwed')
  })

  test('a defaulted account can repay its debt, without a cycle and without a new limit', async () => {
    await owe()
    await act('markDefault')
    const { events } = await act('repay', 2_000_000n)
    expect(events.map((one) => one.eventName)).toEqual(['Repaid', 'Transfer'])
    expect(await seen()).toMatchObject({ drawn: 0n, defaulted: true, limit: 0n, openedAt: 0n })
  })

  // guard: a default seizes no held collateral
  test('a default seizes no held collateral, and seizeMore only what was released', async () => {
    await owe()
    await act('topUp', 2, 5n, true)
    await act('topUp', 3, 40n, true)
    await act('markDefault')
    expect(await seen()).toMatchObject({ shares: 0n, drawn: 10n, pendingShares: 45n })
    expect(await answer('seizeMore')).toBe('InsufficientCollateral')
    for (const ref of [2, 3]) expect(await answer('revokeTopUp', ref)).toBe('accepted')
    await act('revokeTopUp', 2)
    await untilReleased(3)
    await act('seizeMore')
    expect(await seen()).toMatchObject({ drawn: 0n, shares: 29n, pendingShares: 0n })
    expect(await holdOf(3)).toMatchObject({ state: 'Released' })
    expect(await answer('revokeTopUp', 3)).toBe('NotHeld')
  })

  test('the statement of a defaulted account owes what the contract says, and has only the collateral that is left', async () => {
    const { client } = fixture
    const balances = async () => (await statedBalances(fixture, [actors.ana.address], await client.getBlockNumber()))[0]
    await owe()
    await act('topUp', 2, 5n, true)
    await act('topUp', 3, 40n, true)
    await act('markDefault')
    expect(await balances()).toEqual({ debt: '10', collateral: '45' })
    await act('revokeTopUp', 2)
    await untilReleased(3)
    await act('seizeMore')
    const { drawn, shares } = await seen()
    expect([drawn, shares]).toEqual([0n, 29n])
    expect(await balances()).toEqual({ debt: '0', collateral: '29' })
  })

  test('seizeMore is refused for an account that is not defaulted', async () => {
    expect(await answer('seizeMore')).toBe('NotDefaulted')
  })
})
