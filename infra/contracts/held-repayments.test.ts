import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { actionsOn, ausd, named } from '#test/support/contract-actions'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

// A small pool, so that it matters whether held money is lent out.
const fixture = await openContractsFixture({ liquidityMicro: ausd('60') })
const { act, answer, read, holdOf, now } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { creditLine, treasury } = fixture.deployment
const seen = () => fixture.accountOf('ana')

/** Ana has 100 AUSD of collateral, a limit of 50, and has drawn all of it for two minutes. */
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('100'))
  await act('draw', ausd('50'))
  await fixture.warp(120)
})

test('the contract says which interface it has', async () => {
  const version = { abi: creditLineAbi, address: creditLine, functionName: 'version' } as const
  expect(await fixture.client.readContract(version)).toBe(2n)
})

describe('a debt repaid by money that may be taken back', () => {
  test('is repaid at once: cycle and score move, and the value is shown as encumbered', async () => {
    const sent = await act('repayFor', 2, ausd('50'))
    const heldUntil = (await now()) + 60n
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

  test('frees nothing of the limit for draws', async () => {
    await act('repayFor', 2, ausd('30'))
    expect(await answer('draw', 1n)).toBe('LimitExceeded')
    await act('repay', ausd('5'))
    expect((await seen()).available).toBe(ausd('5'))
    expect(await answer('draw', ausd('5') + 1n)).toBe('LimitExceeded')
    await act('draw', ausd('5'))
    expect(await seen()).toMatchObject({ drawn: ausd('20'), encumbered: ausd('30'), available: 0n })
  })

  test('frees no collateral either', async () => {
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

  test('cannot be turned into free collateral by repaying the rest out of it', async () => {
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

  test('is free when the hold ends, in views by the clock alone', async () => {
    await act('repayFor', 2, ausd('50'))
    await fixture.warp(60)
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

  test('shows the excess as held collateral, ending with the rest', async () => {
    const sent = await act('repayFor', 2, ausd('58'))
    const until = (await now()) + 60n
    expect(named(sent)).toEqual([
      'RepaymentHeld',
      'Repaid',
      'CycleClosed',
      'CollateralAdded',
      'Transfer',
    ])
    expect(await seen()).toMatchObject({
      collateral: ausd('100'),
      pendingShares: ausd('8') * 1_000_000n,
      pendingUntil: until,
      encumbered: ausd('50'),
      encumberedUntil: until,
    })
    expect(await holdOf(2)).toMatchObject({
      encumbered: ausd('50'),
      shares: ausd('8') * 1_000_000n,
    })
    await fixture.warp(60)
    expect(await seen()).toMatchObject({ collateral: ausd('108'), pendingShares: 0n })
  })

  test('names the last of several ends', async () => {
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(20)
    await act('repayFor', 3, ausd('10'))
    const last = (await now()) + 60n
    expect(await seen()).toMatchObject({ encumbered: ausd('20'), encumberedUntil: last })
    await fixture.warp(45)
    expect(await seen()).toMatchObject({ encumbered: ausd('10'), encumberedUntil: last })
  })

  test('by money that cannot be taken back encumbers nothing', async () => {
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

describe('what is available', () => {
  const makeDefault = async () => {
    await fixture.warp(88_300)
    await act('markDefault')
  }
  test.each([
    ['is 0 when the account is not verified', () => act('setVerified', false), 0n],
    ['is 0 when it is frozen', () => act('setFrozen', true), 0n],
    ['is 0 past the term', () => fixture.warp(1_800), 0n],
    ['is 0 when it is defaulted', makeDefault, 0n],
    ['is what the limit leaves', () => act('withdraw', ausd('20')), ausd('10')],
    ['is what the pool has', () => act('draw', ausd('25'), 'budi'), ausd('5')],
  ] as const)('%s', async (_case, change, available) => {
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

  test('is in the pool but not lent out before the hold ends', async () => {
    await act('repayFor', 2, ausd('50'))
    expect([await read('liquidity'), await read('poolBalance')]).toEqual([ausd('10'), ausd('60')])
    expect(await answer('draw', ausd('10') + 1n, 'budi')).toBe('InsufficientLiquidity')
    const out = [ausd('10') + 1n, actors.admin.address] as const
    expect(await fixture.refusal('admin', 'creditLine', 'withdrawLiquidity', out)).toBe(
      'InsufficientLiquidity',
    )
    await fixture.warp(60)
    expect(await read('liquidity')).toBe(ausd('60'))
    await act('draw', ausd('60'), 'budi')
    expect([await read('liquidity'), await read('poolBalance')]).toEqual([0n, 0n])
  })

  test('is there for others though its payer never comes back', async () => {
    await act('repayFor', 2, ausd('50'))
    await fixture.warp(1_000_000)
    await act('draw', ausd('60'), 'budi')
  })

  /** 40 held repayments of one AUSD each, as the relayer packs them. */
  const fortyRepayments = (first: number) => {
    const op = (index: number) => ({
      kind: 4,
      ref: refOf(first + index),
      account: ana,
      amount: ausd('1'),
      paidAt: 0n,
    })
    const ops = Array.from({ length: 40 }, (_, index) => op(index))
    return fixture.send('relayer', 'creditLine', 'many', [ops])
  }

  test('of many others locks nobody: a call folds 12, and anyone folds the rest', async () => {
    await fortyRepayments(100)
    await fixture.warp(60)
    expect(await read('liquidity')).toBe(ausd('50'))
    expect(await answer('draw', ausd('22'), 'budi')).toBe('accepted')
    expect(await answer('draw', ausd('22') + 1n, 'budi')).toBe('SettleLiquidityFirst')
    expect(await answer('draw', ausd('50') + 1n, 'budi')).toBe('InsufficientLiquidity')
    await act('settleLiquidity', 28n)
    expect(await answer('draw', ausd('50'), 'budi')).toBe('accepted')
  })

  test('is folded by what comes after it, so that the queue does not grow for ever', async () => {
    await fortyRepayments(100)
    await fixture.warp(60)
    // Each folds two, so these leave 24 of 40: more than one call folds, and then exactly 12.
    for (let ref = 200; ref < 208; ref++) await act('repayFor', ref, ausd('0.001'))
    expect(await answer('draw', ausd('50'), 'budi')).toBe('SettleLiquidityFirst')
    for (let ref = 300; ref < 306; ref++) await act('repayFor', ref, ausd('0.001'))
    expect(await answer('draw', ausd('50'), 'budi')).toBe('accepted')
  })

  test('is folded by extensions too', async () => {
    await fortyRepayments(100)
    await fixture.warp(60)
    await act('repayFor', 200, ausd('0.001'))
    for (let call = 0; call < 13; call++) {
      await fixture.warp(2)
      await act('extendHold', 200)
    }
    expect(await answer('draw', ausd('50'), 'budi')).toBe('accepted')
  })

  test('put off does not keep what is behind it', async () => {
    await act('repayFor', 2, ausd('20'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('20'))
    await fixture.warp(15)
    await act('extendHold', 2)
    await fixture.warp(45)
    expect(await holdOf(2)).toMatchObject({ state: 'Held' })
    expect(await read('liquidity')).toBe(ausd('30'))
    expect(await seen()).toMatchObject({ encumbered: ausd('20') })
    await act('draw', ausd('30'), 'budi')
  })
})

describe('the queue of an account', () => {
  test('lets a call use what is behind a repayment that was put off', async () => {
    await act('repayFor', 2, ausd('20'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('20'))
    await fixture.warp(15)
    await act('extendHold', 2)
    await fixture.warp(45)
    await act('draw', ausd('20'))
    expect(await seen()).toMatchObject({ drawn: ausd('30'), encumbered: ausd('20') })
    expect(await holdOf(3)).toMatchObject({ state: 'Released' })
    await fixture.warp(60)
    expect(await seen()).toMatchObject({ encumbered: 0n, encumberedUntil: 0n })
    await act('draw', ausd('20'))
    expect(await seen()).toMatchObject({ drawn: ausd('50'), encumbered: 0n })
  })

  test('folds 12 holds of both kinds in a call, and settleLots the rest', async () => {
    for (let ref = 100; ref < 110; ref++) await act('topUp', ref, ausd('1'), true)
    for (let ref = 200; ref < 210; ref++) await act('repayFor', ref, ausd('2'))
    await fixture.warp(60)
    await act('settleLiquidity', 10n)
    // All ten lots and two of the repayments: a limit of 55, 30 drawn, 16 still encumbered.
    expect(await answer('draw', ausd('9') + 1n)).toBe('SettleLotsFirst')
    expect(await answer('draw', ausd('9'))).toBe('accepted')
    await act('settleLots', 20n)
    expect(await answer('draw', ausd('25'))).toBe('accepted')
    expect(await answer('draw', ausd('25') + 1n)).toBe('LimitExceeded')
  })

  test('with more holds put off than one call reads says that settling helps', async () => {
    for (let ref = 100; ref < 120; ref++) await act('repayFor', ref, ausd('1'))
    await fixture.warp(20)
    await act('repayFor', 200, ausd('5'))
    await fixture.warp(20)
    for (let ref = 100; ref < 120; ref++) await act('extendHold', ref)
    await fixture.warp(45)
    expect((await seen()).encumbered).toBe(ausd('20'))
    expect(await answer('draw', ausd('5'))).toBe('SettleLotsFirst')
    await act('settleLots', 50n)
    expect(await answer('draw', ausd('5'))).toBe('accepted')
  })
})

describe('a frozen account', () => {
  beforeEach(async () => {
    await act('topUp', 9, ausd('100'))
    await act('setFrozen', true)
  })

  test('neither draws nor withdraws, until the verifier ends it', async () => {
    expect(await seen()).toMatchObject({ frozen: true, limit: ausd('100'), available: 0n })
    expect(await answer('draw', 1n)).toBe('AccountFrozen')
    expect(await answer('withdraw', 1n)).toBe('AccountFrozen')
    await act('setFrozen', false)
    expect(await answer('draw', 1n)).toBe('accepted')
    expect(await answer('withdraw', 1n)).toBe('accepted')
  })

  test('still repays, in every way', async () => {
    await act('repay', ausd('10'))
    await act('repayFromCollateral', ausd('10'))
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('20'), { held: false })
    expect((await seen()).drawn).toBe(0n)
  })

  test('is said once per change', async () => {
    expect(named(await act('setFrozen', true))).toEqual([])
    expect((await act('setFrozen', false)).events).toMatchObject([
      { eventName: 'FrozenSet', args: { account: ana, frozen: false } },
    ])
    const nobody = [`0x${'0'.repeat(40)}`, true] as const
    expect(await fixture.refusal('verifier', 'creditLine', 'setFrozen', nobody)).toBe('ZeroAddress')
  })
})
