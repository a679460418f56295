import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, holdEnd } from '#test/support/contract-actions'
import { openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
const { act, answer, holdOf, now, until, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')
const day = 86_400n
const hour = 3_600n

beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('1000'))
  await act('draw', ausd('50'))
})

describe('the ratio reward', () => {
  const ratio = async () => (await seen()).ratioBps
  const fold = () => act('withdraw', 1n)

  // guard: the ratio reward waits for the last hold
  test('the ratio reward takes effect when the hold ends, in views and then in calls', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('50'))
    expect(await seen()).toMatchObject({ score: 10n, ratioBps: 5_000n })
    await until((await holdOf(2)).until - 1n)
    expect(await ratio()).toBe(5_000n)
    await untilReleased(2)
    expect(await ratio()).toBe(5_250n)
    await act('draw', ausd('525'))
    expect(await ratio()).toBe(5_250n)
  })

  test('the ratio reward waits for a held repayment although own AUSD closed the cycle', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repay', ausd('40'))
    expect(await ratio()).toBe(5_000n)
    await untilReleased(2)
    expect(await ratio()).toBe(5_250n)
  })

  test('the ratio reward does not wait for a repayment whose hold has ended', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await untilReleased(2)
    await act('repay', ausd('40'))
    expect(await ratio()).toBe(5_250n)
  })

  test('the ratio reward waits for the hold that ends last', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await fixture.warp(30)
    await act('repayFor', 3, ausd('40'))
    await untilReleased(2)
    expect(await seen()).toMatchObject({ ratioBps: 5_000n, encumbered: ausd('40') })
    await untilReleased(3)
    expect(await ratio()).toBe(5_250n)
  })

  // guard: a reversed cycle loses its ratio reward
  test.each([2, 3])('score and ratio reward are lost if payment %d of payments 2 and 3 is revoked', async (ref) => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('40'))
    await act('revokeRepayment', ref)
    await untilReleased(3)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, encumbered: 0n })
    await fold()
    expect(await ratio()).toBe(5_000n)
  })

  test.each([
    // guard: the ratio reward moves with an extended hold
    ['after the cycle closed', false],
    // guard: an extended hold of an open cycle delays its reward
    ['while it was open', true],
  ])('the ratio reward moves to the end of a hold that is extended %s', async (_case, whileOpen) => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('10'))
    if (!whileOpen) await act('repay', ausd('30'))
    await fixture.warp(30)
    await act('extendHold', 2)
    if (whileOpen) await act('repay', ausd('30'))
    await untilReleased(3)
    expect(await seen()).toMatchObject({ ratioBps: 5_000n, encumbered: ausd('10') })
    await fold()
    expect(await ratio()).toBe(5_000n)
    await untilReleased(2)
    expect(await ratio()).toBe(5_250n)
    await fold()
    expect(await ratio()).toBe(5_250n)
  })

  test('a ratio reward that moved to an extended hold is lost if that payment is revoked', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('10'))
    await act('repayFor', 3, ausd('40'))
    await fixture.warp(30)
    await act('extendHold', 2)
    await untilReleased(3)
    await act('revokeRepayment', 2)
    await fixture.warp(60)
    await fold()
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n })
  })

  test('each of several cycles gives one ratio reward', async () => {
    for (const ref of [2, 3, 4]) {
      if (ref > 2) await act('draw', ausd('50'))
      await fixture.warp(61)
      await act('repayFor', ref, ausd('50'))
    }
    await untilReleased(4)
    expect(await ratio()).toBe(5_750n)
    await fold()
    expect(await ratio()).toBe(5_750n)
  })

  test('a late cycle lowers the ratio without an ended reward that no draw has used', async () => {
    await fixture.warp(120)
    await act('repayFor', 2, ausd('50'))
    await act('draw', ausd('50'))
    await fixture.warp(1_900)
    expect(await seen()).toMatchObject({ score: 10n, ratioBps: 5_250n })
    await act('repay', ausd('50'))
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_250n })
    await fold()
    expect(await ratio()).toBe(5_250n)
  })

  // guard: a default takes the score
  // guard: a default ends the ratio rewards
  test('the ratio reward of an earlier cycle is lost by a default', async () => {
    const long = await openContractsFixture({ holdSeconds: 900_000 })
    const { act: actLong, untilReleased: untilReleasedLong } = actionsOn(long)
    await actLong('topUp', 1, ausd('1000'))
    await actLong('draw', ausd('50'))
    await long.warp(120)
    await actLong('repayFor', 2, ausd('50'))
    await actLong('draw', ausd('50'))
    await long.warp(recordingSeconds + 88_300)
    await actLong('markDefault')
    await untilReleasedLong(2)
    expect(await long.accountOf('ana')).toMatchObject({ ratioBps: 5_000n, score: 0n })
    await actLong('withdraw', 1n)
    expect((await long.accountOf('ana')).ratioBps).toBe(5_000n)
    await long.close()
  })
})

describe('extending a hold', () => {
  const heldUntil = async () => [(await seen()).pendingUntil, (await seen()).encumberedUntil]

  test('extendHold moves the end to one hold from now, for debt and excess together', async () => {
    await act('repayFor', 2, ausd('58'))
    await fixture.warp(50)
    const sent = await act('extendHold', 2)
    const end = holdEnd(await now(), 60n)
    expect(sent.events).toMatchObject([{ eventName: 'HoldExtended', args: { ref: refOf(2), heldUntil: end } }])
    expect(await heldUntil()).toEqual([end, end])
    expect(await holdOf(2)).toMatchObject({ until: end, state: 'Held' })
    await fixture.warp(30)
    expect(await answer('revokeRepayment', 2)).toBe('accepted')
  })

  test('extendHold moves the end of a held top-up', async () => {
    await act('topUp', 2, ausd('5'), true)
    await fixture.warp(50)
    await act('extendHold', 2)
    expect((await heldUntil())[0]).toBe(holdEnd(await now(), 60n))
  })

  test('an extended top-up does not delay a later one', async () => {
    await act('topUp', 2, ausd('200'), true)
    await act('topUp', 3, ausd('100'), true)
    await fixture.warp(50)
    await act('extendHold', 2)
    await untilReleased(3)
    expect(await seen()).toMatchObject({ collateral: ausd('1100') })
    await act('withdraw', ausd('1000'))
    expect(await holdOf(3)).toMatchObject({ state: 'Released' })
    await untilReleased(2)
    expect(await seen()).toMatchObject({ collateral: ausd('300'), pendingShares: 0n })
    await act('withdraw', ausd('200'))
  })

  test('extendHold is refused once the hold has ended', async () => {
    await act('repayFor', 2, ausd('10'))
    await untilReleased(2)
    expect(await answer('extendHold', 2)).toBe('NotHeld')
  })

  test('extendHold is refused while it would not end the hold later', async () => {
    const long = await openContractsFixture({ holdSeconds: 7_200 })
    const { act: actLong, answer: answerLong, until: untilLong, holdOf: holdLong } = actionsOn(long)
    await actLong('topUp', 2, ausd('5'), true)
    const ends = (await holdLong(2)).until
    await untilLong(ends - 3_600n)
    expect(await answerLong('extendHold', 2)).toBe('HoldNotExtendable')
    // An end moves by whole fifteenths of a hold, rounded up.
    await untilLong(ends - 3_600n + 1n)
    expect(await answerLong('extendHold', 2)).toBe('accepted')
    await long.close()
  })

  test('extendHold extends a hold by a day at most in total, and by an hour at most at once', async () => {
    const long = await openContractsFixture({ holdSeconds: 100_000 })
    const { act: actLong, answer: answerLong, ...line } = actionsOn(long)
    await actLong('topUp', 1, ausd('100'))
    await actLong('draw', ausd('50'))
    await actLong('repayFor', 2, ausd('58'))
    const first = (await line.holdOf(2)).until
    const step = 6_667n
    const most = first + ((day + step - 1n) / step) * step
    let ends = first
    for (let call = 0; call < 100 && ends < most; call++) {
      await line.at(ends - 10n)
      await actLong('extendHold', 2)
      const next = (await line.holdOf(2)).until
      expect(next - ends).toBeLessThanOrEqual(hour + step)
      ends = next
    }
    expect(ends).toBe(most)
    await line.until(ends - 1n)
    expect(await answerLong('extendHold', 2)).toBe('HoldNotExtendable')
    expect(await answerLong('revokeRepayment', 2)).toBe('accepted')
    expect(await long.accountOf('ana')).toMatchObject({ pendingUntil: ends, encumberedUntil: ends })
    await long.close()
  })
})
