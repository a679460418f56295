import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { lineVersion } from '#shared/chain/line-version'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, heldOps, holdEnd, named } from '#test/support/contract-actions'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

// The pool is small, so that lending held money would show.
const fixture = await openContractsFixture({ liquidityMicro: ausd('60') })
const { act, answer, read, holdOf, now, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { creditLine, treasury } = fixture.deployment
const seen = () => fixture.accountOf('ana')

beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('100'))
  await act('draw', ausd('50'))
  await fixture.warp(120)
})

test('the contract returns the version of its interface', async () => {
  const version = { abi: creditLineAbi, address: creditLine, functionName: 'version' } as const
  expect(await fixture.client.readContract(version)).toBe(lineVersion)
})

describe('a held repayment', () => {
  test('a held repayment reduces the debt at once, closes the cycle, and is shown as encumbered', async () => {
    const sent = await act('repayFor', 2, ausd('50'))
    const heldUntil = holdEnd(await now(), 60n)
    expect(sent.events).toMatchObject([
      {
        eventName: 'RepaymentHeld',
        args: { ref: refOf(2), account: ana, amount: ausd('50'), heldUntil },
      },
      {
        eventName: 'Repaid',
        args: { ref: refOf(2), account: ana, payer: treasury, drawnAfter: 0n },
      },
      { eventName: 'CycleClosed', args: { number: 1n, outcome: 0, scoreAfter: 10n } },
      { eventName: 'Transfer', args: { from: treasury, to: creditLine, value: ausd('50') } },
    ])
    expect(await seen()).toMatchObject({
      drawn: 0n,
      score: 10n,
      cycles: 1n,
      limit: ausd('50'),
      encumbered: ausd('50'),
      encumberedUntil: heldUntil,
      available: 0n,
    })
    expect(await holdOf(2)).toMatchObject({
      account: ana,
      encumbered: ausd('50'),
      shares: 0n,
      until: heldUntil,
      state: 'Held',
    })
  })

  // guard: a repayment with held money frees no credit
  test('a held repayment frees no limit for a draw', async () => {
    await act('repayFor', 2, ausd('30'))
    expect(await answer('draw', 1n)).toBe('LimitExceeded')
    await act('repay', ausd('5'))
    expect((await seen()).available).toBe(ausd('5'))
    expect(await answer('draw', ausd('5') + 1n)).toBe('LimitExceeded')
    await act('draw', ausd('5'))
    expect(await seen()).toMatchObject({ drawn: ausd('20'), encumbered: ausd('30'), available: 0n })
  })

  // guard: a repayment with held money frees no collateral
  test('a held repayment frees no collateral for a withdrawal', async () => {
    await act('repayFor', 2, ausd('50'))
    expect(await answer('withdraw', 1n)).toBe('LimitExceeded')
    await fixture.rewind()
    await fixture.checkpoint()
    await act('topUp', 1, ausd('100'))
    await act('draw', ausd('25'))
    await act('repayFor', 2, ausd('25'))
    expect(await answer('withdraw', ausd('50') + 1n)).toBe('LimitExceeded')
    expect(await answer('withdraw', ausd('50'))).toBe('accepted')
  })

  test('repaying the rest from collateral does not free the collateral of a held repayment', async () => {
    await act('repayFor', 2, ausd('30'))
    await act('repayFromCollateral', ausd('1000'))
    expect(await seen()).toMatchObject({
      drawn: 0n,
      encumbered: ausd('30'),
      collateral: ausd('80'),
    })
    expect(await answer('repayFromCollateral', 1n)).toBe('NothingOwed')
    expect(await answer('withdraw', ausd('20') + 1n)).toBe('LimitExceeded')
    expect(await answer('withdraw', ausd('20'))).toBe('accepted')
  })

  test('a held repayment is free when its hold ends, in views without a transaction', async () => {
    await act('repayFor', 2, ausd('50'))
    await untilReleased(2)
    expect(await seen()).toMatchObject({
      encumbered: 0n,
      encumberedUntil: 0n,
      ratioBps: 5_250n,
      limit: ausd('52.5'),
      available: ausd('52.5'),
    })
    expect(await holdOf(2)).toMatchObject({ state: 'Released' })
    await act('draw', ausd('52.5'))
    await act('repay', ausd('52.5'))
    await act('withdraw', ausd('100'))
  })

  test('the excess of a held repayment is held collateral until the same time', async () => {
    const sent = await act('repayFor', 2, ausd('58'))
    const until = holdEnd(await now(), 60n)
    expect(named(sent)).toEqual(['RepaymentHeld', 'Repaid', 'CycleClosed', 'CollateralAdded', 'Transfer'])
    expect(await seen()).toMatchObject({
      collateral: ausd('100'),
      pendingShares: ausd('8') * 1_000_000n,
      pendingUntil: until,
      encumbered: ausd('50'),
      encumberedUntil: until,
    })
    expect(await holdOf(2)).toMatchObject({
      encumbered: ausd('50'),
      collateral: ausd('8'),
      shares: ausd('8') * 1_000_000n,
    })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ collateral: ausd('108'), pendingShares: 0n })
  })

  test('encumberedUntil is the end of the hold that ends last', async () => {
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(20)
    await act('repayFor', 3, ausd('10'))
    const last = holdEnd(await now(), 60n)
    expect(await seen()).toMatchObject({ encumbered: ausd('20'), encumberedUntil: last })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ encumbered: ausd('10'), encumberedUntil: last })
  })

  test('a repayment that is not held encumbers nothing', async () => {
    await act('repayFor', 2, ausd('58'), { held: false })
    expect(await seen()).toMatchObject({
      encumbered: 0n,
      pendingShares: 0n,
      collateral: ausd('108'),
      ratioBps: 5_250n,
      available: ausd('56.7'),
    })
    expect(await holdOf(2)).toMatchObject({ state: 'None' })
  })
})

describe('accountOf.available', () => {
  const makeDefault = async () => {
    await fixture.warp(recordingSeconds + 88_300)
    await act('markDefault')
  }
  test.each([
    ['is 0 while the account is not verified', () => act('setVerified', false), 0n],
    ['is 0 while the account is frozen', () => act('setFrozen', true), 0n],
    ['is 0 during a pause', () => act('pause'), 0n],
    ['is 0 once the cycle is past its term', () => fixture.warp(1_800), 0n],
    ['is 0 once the account is defaulted', makeDefault, 0n],
    ['is limited by the free limit', () => act('withdraw', ausd('20')), ausd('10')],
    ['is limited by the liquidity of the pool', () => act('draw', ausd('25'), 'budi'), ausd('5')],
  ] as const)('available %s', async (_case, change, available) => {
    await act('topUp', 9, ausd('200'), false, 'budi')
    await act('repay', ausd('20'))
    expect((await seen()).available).toBe(ausd('20'))
    await act('repayFor', 2, ausd('10'))
    expect((await seen()).available).toBe(ausd('20'))
    await change()
    expect((await seen()).available).toBe(available)
    if (available > 0n) expect(await answer('draw', available)).toBe('accepted')
    expect(await answer('draw', available + 1n)).not.toBe('accepted')
  })
})

describe('the AUSD of held repayments', () => {
  beforeEach(() => act('topUp', 9, ausd('200'), false, 'budi'))

  // guard: held AUSD is not lent
  test('AUSD of a held repayment is in the pool, but is not lent before its hold ends', async () => {
    await act('repayFor', 2, ausd('50'))
    expect([await read('liquidity'), await read('poolBalance')]).toEqual([ausd('10'), ausd('60')])
    expect(await answer('draw', ausd('10') + 1n, 'budi')).toBe('InsufficientLiquidity')
    const out = [ausd('10') + 1n, actors.admin.address] as const
    expect(await fixture.refusal('admin', 'creditLine', 'withdrawLiquidity', out)).toBe('InsufficientLiquidity')
    await untilReleased(2)
    expect(await read('liquidity')).toBe(ausd('60'))
    await act('draw', ausd('60'), 'budi')
    expect([await read('liquidity'), await read('poolBalance')]).toEqual([0n, 0n])
  })

  test('AUSD of a released repayment is lent to others without any action of its payer', async () => {
    await act('repayFor', 2, ausd('50'))
    await fixture.warp(1_000_000)
    await act('draw', ausd('60'), 'budi')
  })

  test('a call uses all of 40 released repayments of another account', async () => {
    await fixture.send('relayer', 'creditLine', 'many', [heldOps('heldRepayFor', 100, 40, ausd('1'))])
    await untilReleased(139)
    expect(await read('liquidity')).toBe(ausd('50'))
    expect(await answer('draw', ausd('50') + 1n, 'budi')).toBe('InsufficientLiquidity')
    await act('draw', ausd('50'), 'budi')
    expect(await read('liquidity')).toBe(0n)
  })

  test('an extended hold does not keep AUSD of a later hold from being lent', async () => {
    await act('repayFor', 2, ausd('20'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('20'))
    await fixture.warp(15)
    await act('extendHold', 2)
    await untilReleased(3)
    expect(await holdOf(2)).toMatchObject({ state: 'Held' })
    expect(await read('liquidity')).toBe(ausd('30'))
    expect(await seen()).toMatchObject({ encumbered: ausd('20') })
    await act('draw', ausd('30'), 'budi')
  })
})

describe('the holds of an account', () => {
  test('a draw uses what a later repayment released, while an earlier one is extended', async () => {
    await act('repayFor', 2, ausd('20'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('20'))
    await fixture.warp(15)
    await act('extendHold', 2)
    await untilReleased(3)
    await act('draw', ausd('20'))
    expect(await seen()).toMatchObject({ drawn: ausd('30'), encumbered: ausd('20') })
    expect(await holdOf(3)).toMatchObject({ state: 'Released' })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ encumbered: 0n, encumberedUntil: 0n })
    await act('draw', ausd('20'))
    expect(await seen()).toMatchObject({ drawn: ausd('50'), encumbered: 0n })
  })

  test('one draw uses ten released top-ups and ten released repayments', async () => {
    for (let ref = 100; ref < 110; ref++) await act('topUp', ref, ausd('1'), true)
    for (let ref = 200; ref < 210; ref++) await act('repayFor', ref, ausd('2'))
    await untilReleased(209)
    expect(await seen()).toMatchObject({ limit: ausd('55'), available: ausd('25') })
    expect(await answer('draw', ausd('25') + 1n)).toBe('LimitExceeded')
    await act('draw', ausd('25'))
  })

  test('twenty extended holds do not keep a draw from using a released one', async () => {
    for (let ref = 100; ref < 120; ref++) await act('repayFor', ref, ausd('1'))
    await fixture.warp(20)
    await act('repayFor', 200, ausd('5'))
    await fixture.warp(20)
    for (let ref = 100; ref < 120; ref++) await act('extendHold', ref)
    await untilReleased(200)
    expect(await seen()).toMatchObject({ encumbered: ausd('20'), available: ausd('5') })
    expect(await answer('draw', ausd('5') + 1n)).toBe('LimitExceeded')
    await act('draw', ausd('5'))
  })
})

describe('a frozen account', () => {
  beforeEach(async () => {
    await act('topUp', 9, ausd('100'))
    await act('setFrozen', true)
  })

  // guard: a frozen account neither draws nor withdraws
  test('a frozen account can neither draw nor withdraw until the verifier unfreezes it', async () => {
    expect(await seen()).toMatchObject({ frozen: true, limit: ausd('100'), available: 0n })
    expect(await answer('draw', 1n)).toBe('AccountFrozen')
    expect(await answer('withdraw', 1n)).toBe('AccountFrozen')
    await act('setFrozen', false)
    expect(await answer('draw', 1n)).toBe('accepted')
    expect(await answer('withdraw', 1n)).toBe('accepted')
  })

  test('a frozen account can repay in every way', async () => {
    await act('repay', ausd('10'))
    await act('repayFromCollateral', ausd('10'))
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('20'), { held: false })
    expect((await seen()).drawn).toBe(0n)
  })

  test('setFrozen emits one event per change', async () => {
    expect(named(await act('setFrozen', true))).toEqual([])
    expect((await act('setFrozen', false)).events).toMatchObject([
      { eventName: 'FrozenSet', args: { account: ana, frozen: false } },
    ])
    const nobody = [`0x${'0'.repeat(40)}`, true] as const
    expect(await fixture.refusal('verifier', 'creditLine', 'setFrozen', nobody)).toBe('ZeroAddress')
  })
})
