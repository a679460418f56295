import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actionsOn, ausd, closedAs } from '#test/support/contract-actions'
import { fixtureTerms, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
const { act, answer, now, at, until } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')
const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)
const day = 86_400n
const hour = 3_600n

/** When ana's cycle opened and when it is due: 100 AUSD of collateral, 50 drawn. */
let openedAt = 0n
let due = 0n
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('1000'))
  await act('draw', ausd('50'))
  openedAt = await now()
  due = openedAt + term
})

describe('whether a cycle closed in time', () => {
  // Told so long after the due date, paid so long after it: the earliest believed is a day ago.
  test.each([
    ['paid in time and told late', hour, -1n, 'Qualified'],
    ['paid at the due date', hour, 0n, 'Qualified'],
    ['paid after it', hour, 1n, 'Late'],
    ['said to be paid in the future', -1n, 10n * day, 'Qualified'],
    ['said to be paid in the future, and told late', 1n, 10n * day, 'Late'],
    ['said to be paid before it was owed, and told within a day', day, -term - day, 'Qualified'],
    ['paid in time, and told more than a day late', day + 1n, -1n, 'Late'],
  ] as const)('is by the time of payment: %s', async (_case, told, paid, outcome) => {
    for (const held of [false, true]) {
      await fixture.checkpoint()
      await at(due + told)
      const sent = await act('repayFor', 2, ausd('50'), { held, paidAt: due + paid })
      expect(closedAs(sent)).toBe(outcome)
      await fixture.rewind()
    }
  })

  test('is never a reason to refuse a payment', async () => {
    for (const paidAt of [0n, 1n, openedAt - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(await answer('repayFor', 2, ausd('50'), { paidAt })).toBe('accepted')
    }
  })

  test('is by the latest of its payments, not by the one that closed it', async () => {
    await until(due + hour)
    await act('repayFor', 2, ausd('10'), { paidAt: due + 1n })
    expect(closedAs(await act('repayFor', 3, ausd('40'), { paidAt: due - 1n }))).toBe('Late')
  })

  test('is not by payments of an earlier cycle', async () => {
    await until(due + hour)
    expect(closedAs(await act('repayFor', 2, ausd('50'), { paidAt: due + hour }))).toBe('Late')
    await act('draw', ausd('50'))
    await fixture.warp(100)
    expect(closedAs(await act('repayFor', 3, ausd('50'), { paidAt: await now() }))).toBe(
      'Qualified',
    )
  })

  test('is by the clock for what the account pays itself', async () => {
    await at(due)
    await act('repay', ausd('10'))
    await at(due + 1n)
    expect(closedAs(await act('repayFromCollateral', ausd('40')))).toBe('Late')
  })

  test('is not decided by a default before a day was there to tell', async () => {
    await fixture.checkpoint()
    await at(due + day)
    const sent = await act('repayFor', 2, ausd('50'), { paidAt: due })
    expect(closedAs(sent)).toBe('Qualified')
    await fixture.rewind()
    await until(due + day)
    expect(await answer('markDefault')).toBe('TermNotPassed')
  })

  test('needs a grace of a day at least', async () => {
    await expect(openContractsFixture({ graceSeconds: 86_399 })).rejects.toThrow('reverted')
  })
})

describe('the time of payment', () => {
  test('belongs to the content of a ref, as does the hold', async () => {
    await act('repayFor', 2, ausd('10'), { paidAt: 5n })
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 6n })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 5n, held: false })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('11'), { paidAt: 5n })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 5n, user: 'budi' })).toBe(
      'RefConflict',
    )
    const again = await act('repayFor', 2, ausd('10'), { paidAt: 5n })
    expect(again.events).toMatchObject([{ eventName: 'AlreadyApplied', args: { ref: refOf(2) } }])
  })
})

describe('a pause', () => {
  /** Pauses ten seconds before the due date, for `seconds`. */
  const pauseFor = async (seconds: bigint) => {
    await at(due - 10n)
    await act('pause')
    await at(due - 10n + seconds)
    await act('unpause')
  }

  test('makes nobody late: the due date moves by its length', async () => {
    await pauseFor(5_000n)
    await until(due + 5_000n)
    expect(await answer('draw', 1n)).toBe('accepted')
    await at(due + 5_000n)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
  })

  test('moves it by no more than its length', async () => {
    await pauseFor(5_000n)
    await until(due + 5_001n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
    expect(closedAs(await act('repay', ausd('50')))).toBe('Late')
  })

  test('lets an account repay in time while it lasts', async () => {
    await at(due - 10n)
    await act('pause')
    await at(due + 10n * day)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
  })

  test('lets a payment be told after it that was made in time or within it', async () => {
    for (const paidAt of [due - 20n, due + 2_000n]) {
      await fixture.checkpoint()
      await pauseFor(3n * day)
      expect(closedAs(await act('repayFor', 2, ausd('50'), { paidAt }))).toBe('Qualified')
      await fixture.rewind()
    }
  })

  test('puts off the default as well', async () => {
    await pauseFor(5_000n)
    await until(due + 5_000n + grace)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(due + 5_001n + grace)
    expect(await answer('markDefault')).toBe('accepted')
  })

  test('counts together with others, and not for cycles that open later', async () => {
    await act('pause')
    await fixture.warp(1_000)
    await act('unpause')
    await pauseFor(2_000n)
    await act('repay', ausd('50'))
    await act('draw', ausd('50'))
    const reopened = await now()
    await until(reopened + term)
    expect(await answer('draw', 1n)).toBe('accepted')
    await until(reopened + term + 1n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
  })

  test('goes for a debt that comes back, too', async () => {
    await at(due - 40n)
    await act('repayFor', 2, ausd('50'))
    await act('pause')
    const pausedAt = await now()
    await fixture.warp(5)
    await act('extendHold', 2)
    await act('revokeRepayment', 2)
    await at(pausedAt + 5_000n)
    await act('unpause')
    await until(due + 5_000n)
    expect(await answer('draw', 1n)).toBe('accepted')
    await until(due + 5_001n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
  })
})

describe('a cycle counts', () => {
  // A minimum debt of 1 AUSD and 60 seconds: 60 AUSD-seconds, and a minute at least.
  test.each([
    ['with the least debt for the least time', [['1', 60n]], 'Qualified'],
    ['not with less of a debt', [['0.999999', 60n]], 'Short'],
    ['not for less time', [['1', 59n]], 'Short'],
    ['not for less time, however large the debt', [['400', 59n]], 'Short'],
    ['with half of the debt for twice the time', [['0.5', 120n]], 'Qualified'],
    ['not with half of it for less', [['0.5', 119n]], 'Short'],
    ['not with dust for most of the term', [['0.01', 1_700n]], 'Short'],
    [
      'with a debt that was large for a short time',
      [
        ['400', 1n],
        ['0.01', 60n],
      ],
      'Qualified',
    ],
    [
      'with one that grows',
      [
        ['0.01', 60n],
        ['3', 20n],
      ],
      'Qualified',
    ],
    [
      'not with one that grows too late',
      [
        ['0.01', 60n],
        ['3', 19n],
      ],
      'Short',
    ],
  ] as const)('%s', async (_case, parts, outcome) => {
    await act('repay', ausd('50'))
    let time = (await now()) + 10n
    let owed = 0n
    for (const [debt, seconds] of parts) {
      const wanted = ausd(debt)
      await at(time)
      if (wanted > owed) await act('draw', wanted - owed)
      else await act('repay', owed - wanted)
      owed = wanted
      time += seconds
    }
    await at(time)
    const sent = await act('repay', owed)
    expect(closedAs(sent)).toBe(outcome)
    const qualified = outcome === 'Qualified'
    expect(await seen()).toMatchObject({ score: qualified ? 10n : 0n })
  })

  test('with a debt that came back by all the time that it was owed', async () => {
    await act('repay', ausd('50'))
    const start = (await now()) + 10n
    await at(start)
    await act('draw', ausd('1'))
    await at(start + 30n)
    await act('repayFor', 2, ausd('1'))
    await at(start + 60n)
    await act('revokeRepayment', 2)
    await fixture.checkpoint()
    await at(start + 89n)
    expect(closedAs(await act('repay', ausd('1')))).toBe('Short')
    await fixture.rewind()
    await at(start + 90n)
    expect(closedAs(await act('repay', ausd('1')))).toBe('Qualified')
  })
})
