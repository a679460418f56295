import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, closedAs, named } from '#test/support/contract-actions'
import { actors, fixtureTerms, openContractsFixture, refOf } from '#test/support/contracts'

// The hold outlasts term and grace, so that a revocation can come at any time.
/** A hold that outlasts a default. */
const holdSeconds = 900_000
const fixture = await openContractsFixture({ holdSeconds })
const { act, answer, read, holdOf, now, at, until, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { creditLine, treasury } = fixture.deployment
const seen = () => fixture.accountOf('ana')
const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)
const recording = BigInt(recordingSeconds)

let openedAt = 0n
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('100'))
  await act('draw', ausd('50'))
  openedAt = await now()
  await fixture.warp(120)
})

describe('revoking a repayment of the open cycle', () => {
  test('revoking a repayment of the open cycle restores its debt there and returns the AUSD', async () => {
    await act('repayFor', 2, ausd('20'))
    const before = await fixture.balanceOf(treasury)
    const sent = await act('revokeRepayment', 2)
    expect(sent.events).toMatchObject([
      {
        eventName: 'RepaymentRevoked',
        args: { ref: refOf(2), account: ana, amount: ausd('20'), drawnAfter: ausd('50'), openedAt },
      },
      { eventName: 'Transfer', args: { from: creditLine, to: treasury, value: ausd('20') } },
    ])
    expect(await fixture.balanceOf(treasury)).toBe(before + ausd('20'))
    expect(await seen()).toMatchObject({
      drawn: ausd('50'),
      encumbered: 0n,
      encumberedUntil: 0n,
      cycles: 0n,
      limit: ausd('50'),
    })
    expect(await holdOf(2)).toMatchObject({ state: 'Revoked' })
    expect(await read('poolBalance')).toBe(await read('liquidity'))
  })

  test('revoking a repayment of the open cycle does not move its due date', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('revokeRepayment', 2)
    await until(openedAt + term)
    expect(await answer('draw', 1n)).not.toBe('TermPassed')
    await until(openedAt + term + 1n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
    await until(openedAt + term + grace + recording)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(openedAt + term + grace + recording + 1n)
    expect(await answer('markDefault')).toBe('accepted')
  })

  // guard: a cycle with a revoked repayment gives no reward
  // guard: a revoked repayment marks its open cycle
  test('a cycle with a revoked repayment closes as Reversed, without it in the sum and without a reward', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('revokeRepayment', 2)
    const sent = await act('repay', ausd('50'))
    expect(sent.events[1]).toMatchObject({
      eventName: 'CycleClosed',
      args: { outcome: 4, totalRepaid: ausd('50'), peakDrawn: ausd('50'), scoreAfter: 0n },
    })
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, cycles: 1n })
  })

  // guard: a late cycle gives no reward
  test('a late cycle with a revoked repayment closes as Late', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('revokeRepayment', 2)
    await fixture.warp(1_800)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Late')
  })

  // guard: a mark of a cycle ends with it
  test('a revoked repayment does not affect the next cycle', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('revokeRepayment', 2)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Reversed')
    await act('draw', ausd('50'))
    await fixture.warp(120)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
  })
})

describe('revoking a repayment of a closed cycle', () => {
  // guard: restored debt keeps its due date in a new cycle
  test('revoking the repayment of a closed cycle opens a new cycle with the old dates', async () => {
    await act('repayFor', 2, ausd('50'))
    await fixture.warp(500)
    const sent = await act('revokeRepayment', 2)
    expect(sent.events).toMatchObject([
      {
        eventName: 'CycleReversed',
        args: { account: ana, number: 1n, amount: ausd('50'), scoreAfter: 0n },
      },
      { eventName: 'CycleOpened', args: { account: ana, number: 2n, openedAt } },
      { eventName: 'RepaymentRevoked', args: { drawnAfter: ausd('50'), openedAt } },
      { eventName: 'Transfer', args: { to: treasury, value: ausd('50') } },
    ])
    expect(await seen()).toMatchObject({ drawn: ausd('50'), cycles: 1n, score: 0n })
    await until(openedAt + term + 1n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
    await until(openedAt + term + grace + recording)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(openedAt + term + grace + recording + 1n)
    expect(await answer('markDefault')).toBe('accepted')
  })

  test('a reversed cycle and the cycle of its restored debt are two cycles with one reward', async () => {
    await act('repayFor', 2, ausd('50'))
    await act('revokeRepayment', 2)
    await fixture.warp(60)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
    expect(await seen()).toMatchObject({ cycles: 2n, score: 10n, ratioBps: 5_250n })
  })

  test('restored debt is late if its term ended while it was repaid', async () => {
    await act('repayFor', 2, ausd('50'))
    await until(openedAt + term + 10n)
    await act('revokeRepayment', 2)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Late')
  })

  // guard: restored debt brings its due date into an open cycle
  test('restored debt joins the open cycle, which takes the earlier dates', async () => {
    await act('repayFor', 2, ausd('10'))
    await act('repay', ausd('40'))
    await fixture.warp(600)
    await act('draw', ausd('15'))
    const sent = await act('revokeRepayment', 2)
    expect(named(sent)).toEqual(['CycleReversed', 'CycleRedated', 'RepaymentRevoked', 'Transfer'])
    expect(sent.events[2]).toMatchObject({ args: { drawnAfter: ausd('25'), openedAt } })
    await until(openedAt + term + 1n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
    expect(closedAs(await act('repay', ausd('25')))).toBe('Late')
  })

  test('restored debt does not change the dates of an open cycle that is as old', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('repay', ausd('30'))
    await fixture.warp(300)
    await act('draw', ausd('20'))
    await act('repayFor', 3, ausd('20'))
    const [, reopened] = (await act('revokeRepayment', 2)).events
    expect(reopened).toMatchObject({ eventName: 'CycleOpened', args: { number: 3n, openedAt } })
    const sent = await act('revokeRepayment', 3)
    expect(sent.events).toMatchObject([
      { eventName: 'CycleReversed', args: { number: 2n } },
      { eventName: 'RepaymentRevoked', args: { drawnAfter: ausd('40'), openedAt } },
      { eventName: 'Transfer' },
    ])
    await until(openedAt + term + 1n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
  })

  test('a second revocation of the same closed cycle joins the same new cycle', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('repayFor', 3, ausd('30'))
    await act('revokeRepayment', 2)
    expect(named(await act('revokeRepayment', 3))).toEqual(['CycleReversed', 'RepaymentRevoked', 'Transfer'])
    expect(await seen()).toMatchObject({ drawn: ausd('50'), score: 0n, cycles: 1n })
  })

  test('restored debt keeps its dates although a later repayment was revoked before the cycle closed', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('repayFor', 3, ausd('20'))
    await act('revokeRepayment', 3)
    expect(closedAs(await act('repay', ausd('30')))).toBe('Reversed')
    const sent = await act('revokeRepayment', 2)
    expect(sent.events).toMatchObject([
      { eventName: 'CycleReversed', args: { number: 1n } },
      { eventName: 'CycleOpened', args: { number: 2n, openedAt } },
      { eventName: 'RepaymentRevoked', args: { drawnAfter: ausd('20'), openedAt } },
      { eventName: 'Transfer' },
    ])
    await until(openedAt + term + grace + recording + 1n)
    expect(await answer('markDefault')).toBe('accepted')
  })
})

describe('the default of restored debt', () => {
  const day = 86_400n
  const step = (BigInt(holdSeconds) + 14n) / 15n
  const end = term + grace
  /** Time after the draw by which every payment made within the grace period can have been revoked. */
  const last = end + recording + BigInt(holdSeconds) + day + 2n * step
  const settle = (amount = '50') => act('repayFor', 2, ausd(amount))
  const revoke = (left = 0n) => act('revokeRepayment', 2, left)
  const after = (seconds: bigint) => at(openedAt + seconds)
  /** Extends the hold of a payment until `time` after the draw, which is the next block's. */
  const keepHeld = async (ref: number, time: bigint) => {
    for (let end = 0n; end <= openedAt + time; end = (await holdOf(ref)).until) {
      await at((await holdOf(ref)).until - 1n)
      await act('extendHold', ref)
    }
    await after(time)
  }

  // Times count from the draw. Each step takes place in the second that the step before it names.
  test.each([
    ['paid and revoked within the term', [() => settle(), () => after(900n), () => revoke()], end],
    ['revoked a day before the end of grace', [() => settle(), () => after(end - day), () => revoke()], end],
    ['revoked a second later', [() => settle(), () => after(end - day + 1n), () => revoke()], end + 1n],
    ['revoked in the last second of grace', [() => settle(), () => after(end), () => revoke()], end + day],
    // guard: restored debt has a day of grace
    ['revoked after the grace period', [() => settle(), () => after(end + 9n), () => revoke()], end + 9n + day],
    [
      'of which one unit is revoked',
      [() => settle(), () => after(end + 9n), () => revoke(ausd('50') - 1n)],
      end + 9n + day,
    ],
    [
      'of which another unit is revoked later',
      [
        () => settle(),
        () => after(end + 9n),
        () => revoke(ausd('50') - 1n),
        () => after(end + 700n),
        () => revoke(ausd('50') - 2n),
      ],
      end + 700n + day,
    ],
    [
      'paid late within the grace period',
      [() => after(end), () => settle(), () => after(end + 150_000n), () => revoke()],
      end + 150_000n + day,
    ],
    [
      'of which a part was paid, in a cycle that stayed open',
      [() => settle('20'), () => after(end - 60n), () => revoke()],
      end - 60n + day,
    ],
    [
      'that joins a younger cycle',
      [
        () => settle('10'),
        () => act('repay', ausd('40')),
        () => act('draw', ausd('15')),
        () => after(end + 5n),
        () => revoke(),
      ],
      end + 5n + day,
    ],
    [
      'before a pause',
      [
        () => settle(),
        () => after(end + 9n),
        () => revoke(),
        () => after(end + 10n),
        () => act('pause'),
        () => after(end + 5_010n),
        () => act('unpause'),
      ],
      // The pause moves the end of grace, too.
      end + 9n + day + 5_000n,
    ],
    [
      'during a pause',
      [
        () => settle(),
        () => after(end),
        () => act('pause'),
        () => after(end + 70n),
        () => revoke(),
        () => after(end + 100n),
        () => act('unpause'),
      ],
      end + 100n + day,
    ],
    [
      'that was paid again after the grace period, and restored again',
      [
        () => settle(),
        () => after(end + 9n),
        () => revoke(),
        () => after(end + recording + 80_000n),
        () => act('repayFor', 3, ausd('50')),
        () => after(last - 150_000n),
        () => act('revokeRepayment', 3),
      ],
      last - 150_000n + day,
    ],
    // guard: a restoration delays no default beyond the last possible revocation
    [
      'that was restored again after the last possible revocation of a payment in time',
      [
        () => settle(),
        () => after(end + 9n),
        () => revoke(),
        () => after(end + 9n + day + recording),
        () => act('repayFor', 3, ausd('50')),
        () => keepHeld(3, last + 5n),
        () => act('revokeRepayment', 3),
      ],
      last + day,
    ],
  ] as const)(
    'the grace of debt %s ends a day after its restoration or as agreed',
    async (_case, steps, defaultsAt) => {
      for (const step of steps) await step()
      expect((await seen()).defaultsAt - openedAt).toBe(defaultsAt)
      await until(openedAt + defaultsAt + recording)
      expect(await answer('markDefault')).toBe('TermNotPassed')
      await until(openedAt + defaultsAt + recording + 1n)
      expect(await answer('markDefault')).toBe('accepted')
    },
  )

  test('a restoration delays no default of a later cycle', async () => {
    await settle()
    await act('pause')
    await after(end + 9n)
    await revoke()
    await act('repay', ausd('50'))
    await act('unpause')
    await act('draw', ausd('20'))
    const { openedAt: reopenedAt, defaultsAt } = await seen()
    expect(defaultsAt).toBe(reopenedAt + end)
  })

  test('repayments and revocations by turns delay a default to a day after the last possible revocation', async () => {
    await settle()
    let ref = 2
    for (let time = end + 1n; time < last + recording + 3n * day; time += day) {
      await after(time)
      await act('revokeRepayment', ref)
      if ((await answer('markDefault')) === 'accepted') break
      ref++
      await act('repayFor', ref, ausd('50'))
    }
    const { defaultsAt } = await seen()
    expect(defaultsAt - openedAt).toBeLessThanOrEqual(last + day)
    expect(await answer('markDefault')).toBe('accepted')
  })
})

describe('a closed cycle of which a repayment is revoked', () => {
  const closings = {
    'the same payment': () => act('repayFor', 2, ausd('50')),
    'a hundredth of its own money': async () => {
      await act('repayFor', 2, ausd('49.99'))
      return act('repay', ausd('0.01'))
    },
    'a hundredth of its collateral': async () => {
      await act('repayFor', 2, ausd('49.99'))
      return act('repayFromCollateral', ausd('0.01'))
    },
    'a hundredth by a bank transfer': async () => {
      await act('repayFor', 2, ausd('49.99'))
      return act('repayFor', 3, ausd('0.01'), { held: false })
    },
    'a hundredth by another card': async () => {
      await act('repayFor', 2, ausd('49.99'))
      return act('repayFor', 3, ausd('0.01'))
    },
  }
  test.each(Object.entries(closings))('a cycle closed by %s becomes Reversed permanently', async (_case, close) => {
    expect(closedAs(await close())).toBe('Qualified')
    expect((await seen()).score).toBe(10n)
    const sent = await act('revokeRepayment', 2)
    expect(sent.events[0]).toMatchObject({
      eventName: 'CycleReversed',
      args: { number: 1n, scoreAfter: 0n },
    })
    await fixture.warp(400_000)
    await act('repayFromCollateral', 1n)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, cycles: 1n })
  })

  const heldCycle = async (ref: number, seconds: number) => {
    await act('draw', ausd('20'))
    await fixture.warp(seconds)
    return closedAs(await act('repayFor', ref, ausd('20'), { paidAt: await now() }))
  }

  // guard: a reversed cycle loses its score
  test('a reversed cycle loses exactly the score it gave', async () => {
    await act('repay', ausd('50'))
    expect(await heldCycle(2, 120)).toBe('Qualified')
    await act('topUp', 9, ausd('300'))
    expect(await heldCycle(3, 1)).toBe('Short')
    expect(await heldCycle(4, 120)).toBe('Qualified')
    expect(await heldCycle(5, 1_900)).toBe('Late')
    const scores = [(await seen()).score]
    for (const ref of [3, 5, 4, 2]) {
      await act('revokeRepayment', ref)
      scores.push((await seen()).score)
    }
    // The cycles gave 10 + 10 + 10 and took 20. The short cycle gave nothing, and the late one returns nothing.
    expect(scores).toEqual([10n, 10n, 10n, 0n, 0n])
  })

  // guard: a cycle loses its score once
  // together with: a reversed cycle loses its ratio reward
  test('a cycle loses its score once, however many of its repayments are revoked', async () => {
    await act('repay', ausd('50'))
    await act('draw', ausd('50'))
    await fixture.warp(120)
    await act('repayFor', 2, ausd('20'))
    await act('repayFor', 3, ausd('30'))
    expect((await seen()).score).toBe(20n)
    await act('revokeRepayment', 3)
    await act('revokeRepayment', 2)
    expect((await seen()).score).toBe(10n)
  })
})

describe('revoking after a default', () => {
  test('revoking after a default restores the debt without a cycle, and unseizes nothing', async () => {
    await act('repayFor', 2, ausd('20'))
    await until(openedAt + term + grace + recording + 1n)
    await act('markDefault')
    expect(await seen()).toMatchObject({
      drawn: 0n,
      encumbered: ausd('20'),
      collateral: ausd('70'),
    })
    expect(await answer('withdraw', 1n)).toBe('LimitExceeded')
    const sent = await act('revokeRepayment', 2)
    expect(sent.events).toMatchObject([
      { eventName: 'RepaymentRevoked', args: { drawnAfter: ausd('20'), openedAt: 0n } },
      { eventName: 'Transfer', args: { value: ausd('20') } },
    ])
    expect(await seen()).toMatchObject({ score: 0n, cycles: 1n, defaulted: true })
    expect(await answer('withdraw', 1n)).toBe('LimitExceeded')
    await act('seizeMore')
    expect(await seen()).toMatchObject({ drawn: 0n, collateral: ausd('50') })
    await act('withdraw', ausd('50'))
  })

  test('revoking a repayment made after a default restores the debt without a cycle', async () => {
    await act('repayFor', 2, ausd('20'))
    await until(openedAt + term + grace + recording + 1n)
    await act('markDefault')
    await act('revokeRepayment', 2)
    await act('repayFor', 3, ausd('5'))
    expect(await seen()).toMatchObject({ drawn: ausd('15'), encumbered: ausd('5') })
    expect(named(await act('revokeRepayment', 3))).toEqual(['RepaymentRevoked', 'Transfer'])
    expect(await seen()).toMatchObject({ drawn: ausd('20'), encumbered: 0n, cycles: 1n })
  })

  test('revoking after a default still reverses the qualified cycle before it', async () => {
    await act('repayFor', 2, ausd('20'))
    expect(closedAs(await act('repay', ausd('30')))).toBe('Qualified')
    await act('draw', ausd('20'))
    await fixture.warp(recordingSeconds + 88_400)
    await act('markDefault')
    const sent = await act('revokeRepayment', 2)
    expect(sent.events).toMatchObject([
      { eventName: 'CycleReversed', args: { number: 1n, scoreAfter: 0n } },
      { eventName: 'RepaymentRevoked', args: { drawnAfter: ausd('20'), openedAt: 0n } },
      { eventName: 'Transfer' },
    ])
  })
})

describe('the excess of a held repayment', () => {
  test('the excess of a held repayment is revoked with it, under the same ref', async () => {
    await act('repayFor', 2, ausd('58'))
    const sent = await act('revokeRepayment', 2)
    expect(sent.events.slice(-3)).toMatchObject([
      { eventName: 'RepaymentRevoked', args: { amount: ausd('50') } },
      { eventName: 'TopUpRevoked', args: { ref: refOf(2), amount: ausd('8') } },
      { eventName: 'Transfer', args: { to: treasury, value: ausd('58') } },
    ])
    expect(await seen()).toMatchObject({ drawn: ausd('50'), pendingShares: 0n })
  })

  test('a held repayment that is all excess is held and can be revoked', async () => {
    await act('repay', ausd('50'))
    expect(named(await act('repayFor', 2, ausd('8')))).toEqual(['RepaymentHeld', 'CollateralAdded', 'Transfer'])
    expect(await seen()).toMatchObject({ encumbered: 0n, pendingShares: ausd('8') * 1_000_000n })
    expect(named(await act('revokeRepayment', 2))).toEqual(['TopUpRevoked', 'Transfer'])
    expect(await seen()).toMatchObject({ pendingShares: 0n, drawn: 0n, score: 10n, cycles: 1n })
  })
})

describe('a ref', () => {
  test('a top-up is not revoked as a repayment, nor a repayment as a top-up', async () => {
    await act('topUp', 2, ausd('5'), true)
    await act('repayFor', 3, ausd('58'))
    expect(await answer('revokeRepayment', 2)).toBe('NotHeld')
    expect(await answer('revokeTopUp', 3)).toBe('NotHeld')
    expect(await answer('revokeTopUp', 2)).toBe('accepted')
    expect(await answer('revokeRepayment', 3)).toBe('accepted')
  })

  test('a payment that was never held can be neither revoked nor extended', async () => {
    await act('repayFor', 2, ausd('5'), { held: false })
    for (const ref of [1, 2, 99]) {
      for (const name of ['revokeRepayment', 'revokeTopUp', 'extendHold'] as const) {
        expect([ref, name, await answer(name, ref)]).toEqual([ref, name, 'NotHeld'])
      }
    }
  })

  test('revoking a repayment again emits only AlreadyApplied, and its ref stays used', async () => {
    await act('repayFor', 2, ausd('20'))
    await act('revokeRepayment', 2)
    const before = await seen()
    expect(named(await act('revokeRepayment', 2))).toEqual(['AlreadyApplied'])
    expect(named(await act('repayFor', 2, ausd('20')))).toEqual(['AlreadyApplied'])
    expect(await seen()).toEqual(before)
    expect(await answer('extendHold', 2)).toBe('NotHeld')
  })

  test('a repayment cannot be revoked once its hold ended, folded or not', async () => {
    await act('repayFor', 2, ausd('58'))
    await untilReleased(2)
    expect(await answer('revokeRepayment', 2)).toBe('NotHeld')
    await act('withdraw', 1n)
    expect(await answer('revokeRepayment', 2)).toBe('NotHeld')
    expect(await holdOf(2)).toMatchObject({ state: 'Released' })
  })
})
