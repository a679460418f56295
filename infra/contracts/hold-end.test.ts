import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
const { act, answer, holdOf, now } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')
const day = 86_400n
const hour = 3_600n

/** Ana has a limit of 500 AUSD and has drawn 50. */
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('1000'))
  await act('draw', ausd('50'))
})

describe('the reward in ratio', () => {
  const ratio = async () => (await seen()).ratioBps

  test('comes when the hold ends, in views and then in calls', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('50'))
    expect(await seen()).toMatchObject({ score: 10n, ratioBps: 5_000n })
    // The chain's clock goes on by itself meanwhile: a second more is no end of a hold of sixty.
    await fixture.warp(50)
    expect(await ratio()).toBe(5_000n)
    await fixture.warp(10)
    expect(await ratio()).toBe(5_250n)
    await act('draw', ausd('525'))
    expect(await ratio()).toBe(5_250n)
  })

  test('waits for held money that counted, whoever closed the cycle', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repay', ausd('40'))
    expect(await ratio()).toBe(5_000n)
    await fixture.warp(60)
    expect(await ratio()).toBe(5_250n)
  })

  test('does not wait for money that is held no more', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(60)
    await act('repay', ausd('40'))
    expect(await ratio()).toBe(5_250n)
  })

  test('waits for the last of several', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('40'))
    await fixture.warp(40)
    expect(await seen()).toMatchObject({ ratioBps: 5_000n, encumbered: ausd('40') })
    await fixture.warp(20)
    expect(await ratio()).toBe(5_250n)
  })

  test.each([2, 3])('is lost when payment %d of two is revoked', async (ref) => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('40'))
    await act('revokeRepayment', ref)
    await fixture.warp(60)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, encumbered: 0n })
    await act('settleLots', 10n)
    expect(await ratio()).toBe(5_000n)
  })

  test.each([
    ['after the cycle closed', false],
    ['while it was open', true],
  ])('moves with a hold that is put off %s', async (_case, whileOpen) => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('10'))
    if (!whileOpen) await act('repay', ausd('30'))
    await fixture.warp(30)
    await act('extendHold', 2)
    if (whileOpen) await act('repay', ausd('30'))
    await fixture.warp(40)
    expect(await seen()).toMatchObject({ ratioBps: 5_000n, encumbered: ausd('10') })
    await act('settleLots', 10n)
    expect(await ratio()).toBe(5_000n)
    await fixture.warp(20)
    expect(await ratio()).toBe(5_250n)
    await act('settleLots', 10n)
    expect(await ratio()).toBe(5_250n)
  })

  test('that moved is lost when that money comes back', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('40'))
    await fixture.warp(30)
    await act('extendHold', 2)
    await fixture.warp(40)
    await act('revokeRepayment', 2)
    await fixture.warp(60)
    await act('settleLots', 10n)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n })
  })

  test('of several cycles comes once for each', async () => {
    for (const ref of [2, 3, 4]) {
      if (ref > 2) await act('draw', ausd('50'))
      await fixture.warp(61)
      await act('repayFor', ref, ausd('50'))
    }
    await fixture.warp(60)
    expect(await ratio()).toBe(5_750n)
    await act('settleLots', 10n)
    expect(await ratio()).toBe(5_750n)
  })

  test('of an earlier cycle does not come after a default', async () => {
    const long = await openContractsFixture({ holdSeconds: 200_000 })
    const { act: actLong } = actionsOn(long)
    await actLong('topUp', 1, ausd('1000'))
    await actLong('draw', ausd('50'))
    await long.warp(120)
    await actLong('repayFor', 2, ausd('50'))
    await actLong('draw', ausd('50'))
    await long.warp(88_300)
    await actLong('markDefault')
    await long.warp(200_000)
    expect(await long.accountOf('ana')).toMatchObject({ ratioBps: 5_000n, score: 0n })
    await actLong('settleLots', 10n)
    expect((await long.accountOf('ana')).ratioBps).toBe(5_000n)
    await long.close()
  })
})

describe('putting off the end of a hold', () => {
  const heldUntil = async () => [(await seen()).pendingUntil, (await seen()).encumberedUntil]

  test('moves it to a hold from now, for debt and excess alike', async () => {
    await act('repayFor', 2, ausd('58'))
    await fixture.warp(50)
    const sent = await act('extendHold', 2)
    const until = (await now()) + 60n
    expect(sent.events).toMatchObject([
      { eventName: 'HoldExtended', args: { ref: refOf(2), heldUntil: until } },
    ])
    expect(await heldUntil()).toEqual([until, until])
    expect(await holdOf(2)).toMatchObject({ until, state: 'Held' })
    await fixture.warp(30)
    expect(await answer('revokeRepayment', 2)).toBe('accepted')
  })

  test('is shown for a top-up as well', async () => {
    await act('topUp', 2, ausd('5'), true)
    await fixture.warp(50)
    await act('extendHold', 2)
    expect((await heldUntil())[0]).toBe((await now()) + 60n)
  })

  test('does not keep the lots behind it', async () => {
    await act('topUp', 2, ausd('200'), true)
    await act('topUp', 3, ausd('100'), true)
    await fixture.warp(50)
    await act('extendHold', 2)
    await fixture.warp(20)
    expect(await seen()).toMatchObject({ collateral: ausd('1100') })
    await act('withdraw', ausd('1000'))
    expect(await holdOf(3)).toMatchObject({ state: 'Released' })
    await fixture.warp(60)
    expect(await seen()).toMatchObject({ collateral: ausd('300'), pendingShares: 0n })
    await act('withdraw', ausd('200'))
  })

  test('comes too late once the hold is over', async () => {
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(60)
    expect(await answer('extendHold', 2)).toBe('NotHeld')
  })

  test('is not possible when it would not end later', async () => {
    const long = await openContractsFixture({ holdSeconds: 7_200 })
    const { act: actLong, answer: answerLong, until: untilLong, now: nowLong } = actionsOn(long)
    await actLong('topUp', 2, ausd('5'), true)
    const ends = (await nowLong()) + 7_200n
    await untilLong(ends - 3_600n)
    expect(await answerLong('extendHold', 2)).toBe('HoldNotExtendable')
    await untilLong(ends - 3_599n)
    expect(await answerLong('extendHold', 2)).toBe('accepted')
    await long.close()
  })

  test('ends after a day in all, however often it is asked', async () => {
    const long = await openContractsFixture({ holdSeconds: 100_000 })
    const { act: actLong, answer: answerLong, ...line } = actionsOn(long)
    await actLong('topUp', 1, ausd('100'))
    await actLong('draw', ausd('50'))
    await actLong('repayFor', 2, ausd('58'))
    const first = (await line.now()) + 100_000n
    let ends = first
    for (let call = 0; call < 100 && ends < first + day; call++) {
      await line.at(ends - 10n)
      await actLong('extendHold', 2)
      const next = (await line.holdOf(2)).until
      expect(next - ends).toBeLessThanOrEqual(hour)
      ends = next
    }
    expect(ends).toBe(first + day)
    await line.until(ends - 1n)
    expect(await answerLong('extendHold', 2)).toBe('HoldNotExtendable')
    expect(await answerLong('revokeRepayment', 2)).toBe('accepted')
    expect(await long.accountOf('ana')).toMatchObject({ pendingUntil: ends, encumberedUntil: ends })
    await long.close()
  })
})
