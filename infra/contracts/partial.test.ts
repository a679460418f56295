import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { opKinds } from '#shared/chain/gas'
import { actionsOn, ausd, closedAs, named } from '#test/support/contract-actions'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture({ holdSeconds: 1_000 })
const { act, answer, read, holdOf, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const { treasury } = fixture.deployment
const seen = () => fixture.accountOf('ana')
const treasuryHas = () => fixture.balanceOf(treasury)
async function returned(run: () => Promise<unknown>) {
  const before = await treasuryHas()
  await run()
  return (await treasuryHas()) - before
}

beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('100'))
  await act('draw', ausd('50'))
  await fixture.warp(120)
})

describe('a partial revocation of a top-up', () => {
  beforeEach(() => act('topUp', 2, ausd('30'), true))

  test('revoking a top-up to 12 AUSD returns the other 18 and keeps the hold of the rest', async () => {
    const { until } = await holdOf(2)
    expect(await returned(() => act('revokeTopUp', 2, ausd('12')))).toBe(ausd('18'))
    expect(await holdOf(2)).toMatchObject({
      collateral: ausd('12'),
      shares: ausd('12') * 1_000_000n,
      until,
      state: 'Held',
    })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ collateral: ausd('112'), pendingShares: 0n })
  })

  test('the event of a partial revocation carries the amount and shares it took', async () => {
    const [event] = (await act('revokeTopUp', 2, ausd('12'))).events
    expect(event).toMatchObject({
      eventName: 'TopUpRevoked',
      args: { ref: refOf(2), amount: ausd('18'), shares: ausd('18') * 1_000_000n },
    })
  })

  test.each(['12', '20', '30', '1000'])(
    'a top-up of which 12 AUSD are left is not revoked again to %s AUSD',
    async (left) => {
      await act('revokeTopUp', 2, ausd('12'))
      expect(named(await act('revokeTopUp', 2, ausd(left)))).toEqual(['AlreadyApplied'])
      expect(await holdOf(2)).toMatchObject({ collateral: ausd('12'), state: 'Held' })
    },
  )

  test('revoking a top-up to less each time returns the differences', async () => {
    for (const [left, back] of [
      ['29.999999', '0.000001'],
      ['10', '19.999999'],
      ['0', '10'],
    ] as const) {
      expect(await returned(() => act('revokeTopUp', 2, ausd(left)))).toBe(ausd(back))
    }
    expect(await holdOf(2)).toMatchObject({ collateral: 0n, shares: 0n, state: 'Revoked' })
    expect(named(await act('revokeTopUp', 2))).toEqual(['AlreadyApplied'])
  })

  test('an extended top-up is revoked in part at its new end, and the rest can be extended', async () => {
    await fixture.warp(500)
    await act('extendHold', 2)
    await act('revokeTopUp', 2, ausd('12'))
    await fixture.warp(500)
    await act('extendHold', 2)
    expect(await seen()).toMatchObject({ pendingShares: ausd('12') * 1_000_000n })
    await untilReleased(2)
    expect(await answer('revokeTopUp', 2)).toBe('NotHeld')
    expect(named(await act('revokeTopUp', 2, ausd('12')))).toEqual(['AlreadyApplied'])
    expect((await seen()).collateral).toBe(ausd('112'))
  })
})

describe('a partial revocation of a repayment', () => {
  // guard: a revocation returns the excess before any debt is owed again
  test('revoking only excess returns it and reverses no cycle', async () => {
    await act('repayFor', 2, ausd('58'))
    expect(named(await act('revokeRepayment', 2, ausd('53')))).toEqual(['TopUpRevoked', 'Transfer'])
    expect(await holdOf(2)).toMatchObject({ encumbered: ausd('50'), collateral: ausd('3') })
    expect(await seen()).toMatchObject({ drawn: 0n, score: 10n, encumbered: ausd('50') })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ ratioBps: 5_250n, collateral: ausd('103') })
  })

  test('revoking more than the excess restores only the difference as debt', async () => {
    await act('repayFor', 2, ausd('58'))
    const sent = await act('revokeRepayment', 2, ausd('45'))
    expect(sent.events).toMatchObject([
      { eventName: 'CycleReversed', args: { number: 1n, amount: ausd('5') } },
      { eventName: 'CycleOpened', args: { number: 2n } },
      { eventName: 'RepaymentRevoked', args: { amount: ausd('5'), drawnAfter: ausd('5') } },
      { eventName: 'TopUpRevoked', args: { amount: ausd('8') } },
      { eventName: 'Transfer', args: { to: treasury, value: ausd('13') } },
    ])
    expect(await holdOf(2)).toMatchObject({ encumbered: ausd('45'), collateral: 0n, state: 'Held' })
    expect(await seen()).toMatchObject({ drawn: ausd('5'), encumbered: ausd('45'), score: 0n })
  })

  test('revoking a repayment of an open cycle in part leaves the rest repaid', async () => {
    await act('repayFor', 2, ausd('20'))
    const pool = await read('poolBalance')
    await act('revokeRepayment', 2, ausd('15'))
    expect(await seen()).toMatchObject({ drawn: ausd('35'), encumbered: ausd('15'), cycles: 0n })
    expect(await read('poolBalance')).toBe(pool - ausd('5'))
    expect(closedAs(await act('repay', ausd('35')))).toBe('Reversed')
  })

  test('revoking a repayment to less each time takes the excess first and the debt then', async () => {
    await act('repayFor', 2, ausd('58'))
    for (const [left, back, drawn] of [
      ['54', '4', '0'],
      ['50', '4', '0'],
      ['49.999999', '0.000001', '0.000001'],
      ['10', '39.999999', '40'],
      ['0', '10', '50'],
    ] as const) {
      expect(await returned(() => act('revokeRepayment', 2, ausd(left)))).toBe(ausd(back))
      expect((await seen()).drawn).toBe(ausd(drawn))
      expect(named(await act('revokeRepayment', 2, ausd(left)))).toEqual(['AlreadyApplied'])
    }
    expect(await holdOf(2)).toMatchObject({ encumbered: 0n, collateral: 0n, state: 'Revoked' })
    expect(await read('poolBalance')).toBe(await read('liquidity'))
  })

  test('the rest of an extended repayment is freed at its new end', async () => {
    await act('repayFor', 2, ausd('58'))
    await fixture.warp(500)
    await act('extendHold', 2)
    await act('revokeRepayment', 2, ausd('30'))
    const { until } = await holdOf(2)
    expect(await seen()).toMatchObject({ encumbered: ausd('30'), encumberedUntil: until })
    expect((await read('poolBalance')) - (await read('liquidity'))).toBe(ausd('30'))
    await untilReleased(2)
    expect(await seen()).toMatchObject({ encumbered: 0n, drawn: ausd('20') })
    expect(await read('poolBalance')).toBe(await read('liquidity'))
  })

  test('many revokes until the amount of each operation is left', async () => {
    await act('topUp', 3, ausd('30'), true)
    await act('repayFor', 2, ausd('58'))
    const revoke = (kind: 'revokeTopUp' | 'revokeRepayment', ref: number, left: string) => ({
      kind: opKinds[kind],
      ref: refOf(ref),
      account: actors.ana.address,
      amount: ausd(left),
      paidAt: 0n,
    })
    const ops = [
      revoke('revokeTopUp', 3, '12'),
      revoke('revokeTopUp', 3, '12'),
      revoke('revokeTopUp', 3, '5'),
      revoke('revokeRepayment', 2, '50'),
      revoke('revokeRepayment', 2, '51'),
      revoke('revokeRepayment', 2, '20'),
    ]
    const sent = await fixture.send('relayer', 'creditLine', 'many', [ops])
    expect(named(sent).filter((name) => name === 'AlreadyApplied')).toHaveLength(2)
    expect(named(sent)).not.toContain('OpFailed')
    expect(await holdOf(3)).toMatchObject({ collateral: ausd('5') })
    expect(await holdOf(2)).toMatchObject({ encumbered: ausd('20'), collateral: 0n })
    expect(await seen()).toMatchObject({ drawn: ausd('30'), encumbered: ausd('20') })
  })
})
