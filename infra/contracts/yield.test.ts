import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'

const fixture = await openContractsFixture()
const { act, answer, read, holdOf, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const { creditLine, treasury } = fixture.deployment
const treasuryHas = () => fixture.balanceOf(treasury)

const views = async () => ({
  ana: await fixture.accountOf('ana'),
  budi: await fixture.accountOf('budi'),
  hold: await holdOf(2),
  liquidity: await read('liquidity'),
  pool: await read('poolBalance'),
  collateral: await read('totalCollateral'),
  shares: await read('totalShares'),
  sequence: await read('sequence'),
})

describe('yield', () => {
  beforeEach(async () => {
    await act('topUp', 1, ausd('100'))
    await act('topUp', 2, ausd('50'), true, 'budi')
  })

  // guard: yield is added only by the admin
  test('a user cannot add yield', async () => {
    const add = (from: 'ana' | 'relayer') => fixture.refusal(from, 'creditLine', 'addYield', [1n])
    expect(await add('ana')).toBe('AccessControlUnauthorizedAccount')
    expect(await add('relayer')).toBe('AccessControlUnauthorizedAccount')
  })

  test('a donation of AUSD to the contract changes no view and no payout', async () => {
    const before = await views()
    await fixture.send('ana', 'ausd', 'transfer', [creditLine, ausd('700')])
    expect(await views()).toEqual(before)
    await act('revokeTopUp', 2)
    await act('withdraw', ausd('100'))
    expect(await views()).toMatchObject({ collateral: 0n, shares: 0n, pool: before.pool })
    expect(await fixture.balanceOf(creditLine)).toBe(before.pool + ausd('700'))
  })

  test('yield raises the value of all shares, held ones included', async () => {
    await act('addYield', ausd('15'))
    expect((await fixture.accountOf('ana')).collateral).toBe(ausd('110') - 1n)
    await untilReleased(2)
    expect((await fixture.accountOf('budi')).collateral).toBe(ausd('55') - 1n)
  })

  // guard: a revoked payment returns its amount and not the value of its shares
  test('after yield, revoking a top-up returns the credited amount, and its yield stays with the other shares', async () => {
    await act('addYield', ausd('15'))
    const before = await treasuryHas()
    const { events } = await act('revokeTopUp', 2)
    expect(events[0]).toMatchObject({
      eventName: 'TopUpRevoked',
      args: { amount: ausd('50'), shares: ausd('50') * 1_000_000n },
    })
    expect(await treasuryHas()).toBe(before + ausd('50'))
    expect((await fixture.accountOf('ana')).collateral).toBe(ausd('115') - 1n)
    expect((await fixture.accountOf('budi')).pendingShares).toBe(0n)
  })

  test('after yield, a partial revocation leaves the rest with its shares and its yield', async () => {
    await act('addYield', ausd('15'))
    const before = await treasuryHas()
    await act('revokeTopUp', 2, ausd('20'))
    expect(await treasuryHas()).toBe(before + ausd('30'))
    expect(await holdOf(2)).toMatchObject({
      collateral: ausd('20'),
      shares: ausd('20') * 1_000_000n,
      state: 'Held',
    })
    await untilReleased(2)
    // The other shares receive the yield of the revoked ones.
    const { collateral } = await fixture.accountOf('budi')
    expect(collateral).toBe((ausd('135') * 20n) / 120n - 1n)
    await act('withdraw', collateral, 'budi')
  })

  test('after yield, revoking a repayment returns debt and excess exactly', async () => {
    await act('draw', ausd('50'))
    await act('addYield', ausd('15'))
    const before = await treasuryHas()
    await act('repayFor', 3, ausd('58'))
    expect(await treasuryHas()).toBe(before - ausd('58'))
    await act('revokeRepayment', 3)
    expect(await treasuryHas()).toBe(before)
    expect(await fixture.accountOf('ana')).toMatchObject({ drawn: ausd('50'), pendingShares: 0n })
  })
})

describe('the highest price of a share', () => {
  const most = async () => (await read('totalShares')) + 1_000_000n - (await read('totalCollateral')) - 1n

  // guard: a share is never worth more than a unit by yield
  test('yield that makes a share worth more than a unit is refused', async () => {
    await act('topUp', 1, 1n)
    const amount = await most()
    expect(await answer('addYield', amount + 1n)).toBe('YieldTooLarge')
    await act('addYield', amount)
    expect(await answer('addYield', 1n)).toBe('YieldTooLarge')
  })

  test('at the highest price no top-up is refused or loses a unit, and revoking returns it exactly', async () => {
    await act('topUp', 1, 1n)
    await act('addYield', await most())
    for (const [index, amount] of [1n, 2n, 7n, 1_000_003n].entries()) {
      const before = await treasuryHas()
      await act('topUp', 10 + index, amount, true, 'budi')
      expect(await holdOf(10 + index)).toMatchObject({ collateral: amount, shares: amount })
      await act('revokeTopUp', 10 + index)
      expect(await treasuryHas()).toBe(before)
    }
  })

  test('security: yield before the first deposit cannot take value of a later depositor', async () => {
    await act('topUp', 1, 1n)
    const amount = await most()
    await act('addYield', amount)
    await act('topUp', 2, ausd('100'), false, 'budi')
    expect((await fixture.accountOf('ana')).collateral).toBeLessThanOrEqual((amount * 51n) / 100n)
    expect((await fixture.accountOf('budi')).collateral).toBe(ausd('100'))
    expect(await fixture.balanceOf(actors.ana.address)).toBe(ausd('1000'))
  })
})
