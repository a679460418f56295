import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, closedAs } from '#test/support/contract-actions'
import { fixtureTerms, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
const { act, answer, now, at, until } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')
const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)
const recording = BigInt(recordingSeconds)
const day = 86_400n
const hour = 3_600n

let openedAt = 0n
let due = 0n
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('1000'))
  await act('draw', ausd('50'))
  openedAt = await now()
  due = openedAt + term
})

describe('the outcome Late', () => {
  // The contract clamps payment times of more than a week ago.
  test.each([
    ['paid in time and relayed late', hour, -1n, 'Qualified'],
    ['paid at the due date', hour, 0n, 'Qualified'],
    ['paid after the due date', hour, 1n, 'Late'],
    ['with a payment time in the future', -1n, 10n * day, 'Qualified'],
    ['with a payment time in the future, and relayed late', 1n, 10n * day, 'Late'],
    ['with a payment time before the debt, and relayed within a week', recording, -term - day, 'Qualified'],
    ['paid in time and relayed a week late', recording - 1n, -1n, 'Qualified'],
    // guard: a time of payment is at most a week ago
    ['paid in time and relayed more than a week late', recording + 1n, -1n, 'Late'],
  ] as const)(
    'a cycle repaid by a payment %s is judged by the time of payment',
    async (_case, relayed, paid, outcome) => {
      for (const held of [false, true]) {
        await fixture.checkpoint()
        await at(due + relayed)
        const sent = await act('repayFor', 2, ausd('50'), { held, paidAt: due + paid })
        expect(closedAs(sent)).toBe(outcome)
        await fixture.rewind()
      }
    },
  )

  test('no payment time makes the contract refuse a payment', async () => {
    for (const paidAt of [0n, 1n, openedAt - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(await answer('repayFor', 2, ausd('50'), { paidAt })).toBe('accepted')
    }
  })

  // guard: the latest payment decides whether a cycle is late
  test('a cycle is late by its latest payment, not by the one that closes it', async () => {
    await until(due + hour)
    await act('repayFor', 2, ausd('10'), { paidAt: due + 1n })
    expect(closedAs(await act('repayFor', 3, ausd('40'), { paidAt: due - 1n }))).toBe('Late')
  })

  // guard: a new cycle begins without a time of payment
  test('a payment of an earlier cycle does not make a cycle late', async () => {
    await at(due - 10n)
    await act('repayFor', 2, ausd('50'), { paidAt: due - 10n })
    await act('draw', ausd('5'))
    await at(due + 20n)
    await act('repay', ausd('5'))
    // The new cycle has the due date of the first one.
    await act('revokeRepayment', 2)
    await at(due + 85n)
    const sent = await act('repayFor', 3, ausd('50'), { paidAt: due - 5n })
    expect(closedAs(sent)).toBe('Qualified')
  })

  test('a payment by the account itself is judged by the block time', async () => {
    await at(due)
    await act('repay', ausd('10'))
    await at(due + 1n)
    expect(closedAs(await act('repayFromCollateral', ausd('40')))).toBe('Late')
  })

  test.each([
    ['in the last second of the term', 0n, 'Qualified'],
    ['in the last second of grace', grace, 'Late'],
  ] as const)(
    'a payment made %s can be relayed for a week before the account may be defaulted',
    async (_case, paid, outcome) => {
      await until(due + paid + recording - 1n)
      expect(await answer('markDefault')).toBe('TermNotPassed')
      await at(due + paid + recording)
      expect(closedAs(await act('repayFor', 2, ausd('50'), { paidAt: due + paid }))).toBe(outcome)
    },
  )
})

describe('the time of payment', () => {
  // guard: the time of payment belongs to the content of a ref
  test('time of payment and hold belong to the content of a ref', async () => {
    await act('repayFor', 2, ausd('10'), { paidAt: 5n })
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 6n })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 5n, held: false })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('11'), { paidAt: 5n })).toBe('RefConflict')
    expect(await answer('repayFor', 2, ausd('10'), { paidAt: 5n, user: 'budi' })).toBe('RefConflict')
    const again = await act('repayFor', 2, ausd('10'), { paidAt: 5n })
    expect(again.events).toMatchObject([{ eventName: 'AlreadyApplied', args: { ref: refOf(2) } }])
  })
})

describe('a pause', () => {
  const pauseFor = async (seconds: bigint) => {
    await at(due - 10n)
    await act('pause')
    await at(due - 10n + seconds)
    await act('unpause')
  }

  test('a pause moves the due date by its length', async () => {
    await pauseFor(5_000n)
    await until(due + 5_000n)
    expect(await answer('draw', 1n)).toBe('accepted')
    await at(due + 5_000n)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
  })

  test('a pause moves the due date by no more than its length', async () => {
    await pauseFor(5_000n)
    await until(due + 5_001n)
    expect(await answer('draw', 1n)).toBe('TermPassed')
    expect(closedAs(await act('repay', ausd('50')))).toBe('Late')
  })

  test('an account can repay in time during a pause', async () => {
    await at(due - 10n)
    await act('pause')
    await at(due + 10n * day)
    expect(closedAs(await act('repay', ausd('50')))).toBe('Qualified')
  })

  test('a payment made before or during a pause counts as in time when relayed after it', async () => {
    for (const paidAt of [due - 20n, due + 2_000n]) {
      await fixture.checkpoint()
      await pauseFor(3n * day)
      expect(closedAs(await act('repayFor', 2, ausd('50'), { paidAt }))).toBe('Qualified')
      await fixture.rewind()
    }
  })

  test.each([
    // guard: a pause makes no earlier payment timely
    ['a second before it', -1n],
    ['a second after it began', 1n],
    ['in its last second', 3n * day - 1n],
  ])('a payment made late %s, and relayed after it, is late', async (_, paid) => {
    const pausedAt = due + hour
    for (const held of [false, true]) {
      await fixture.checkpoint()
      await at(pausedAt)
      await act('pause')
      await at(pausedAt + 3n * day)
      await act('unpause')
      const sent = await act('repayFor', 2, ausd('50'), { held, paidAt: pausedAt + paid })
      expect(closedAs(sent)).toBe('Late')
      expect(await seen()).toMatchObject({ score: 0n })
      await fixture.rewind()
    }
  })

  test('a late part that was relayed before a pause makes a cycle late after it', async () => {
    await at(due + hour)
    await act('repay', ausd('49'))
    await act('pause')
    await fixture.warp(86_400)
    await act('unpause')
    expect(closedAs(await act('repayFor', 2, ausd('1'), { paidAt: due }))).toBe('Late')
  })

  test('a pause delays the default by its length', async () => {
    await pauseFor(5_000n)
    await until(due + 5_000n + grace + recording)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(due + 5_001n + grace + recording)
    expect(await answer('markDefault')).toBe('accepted')
  })

  test('pauses add up, and do not extend cycles that open after them', async () => {
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

  test('a pause extends the term of restored debt', async () => {
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

describe('the least debt-time of a cycle', () => {
  // A cycle needs 60 AUSD-seconds, and at least a minute.
  test.each([
    ['the least debt for the least time', 'Qualified', [['1', 60n]]],
    // guard: a cycle needs the least debt-time
    ['less debt for the least time', 'Short', [['0.999999', 60n]]],
    ['the least debt for less time', 'Short', [['1', 59n]]],
    // guard: a cycle needs the least time
    ['a large debt for less time', 'Short', [['400', 59n]]],
    ['half the debt for twice the time', 'Qualified', [['0.5', 120n]]],
    // guard: a new cycle counts from its opening
    ['half the debt for less than twice the time', 'Short', [['0.5', 119n]]],
    ['dust for most of the term', 'Short', [['0.01', 1_700n]]],
    [
      'a debt that was large for a short time',
      'Qualified',
      [
        ['400', 1n],
        ['0.01', 60n],
      ],
    ],
    [
      'a debt that grows early enough',
      'Qualified',
      [
        ['0.01', 60n],
        ['3', 20n],
      ],
    ],
    // guard: a debt counts from when it is drawn
    [
      'a debt that grows too late',
      'Short',
      [
        ['0.01', 60n],
        ['3', 19n],
      ],
    ],
  ] as const)('a cycle with %s closes as %s', async (_case, outcome, parts) => {
    // This cycle's debt-time must not count in the next one.
    await at(openedAt + 10n)
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

  test('restored debt counts without the debt-time before it was restored', async () => {
    await act('repay', ausd('50'))
    const start = (await now()) + 10n
    await at(start)
    await act('draw', ausd('1'))
    await at(start + 30n)
    await act('repayFor', 2, ausd('1'))
    await at(start + 60n)
    await act('revokeRepayment', 2)
    await fixture.checkpoint()
    await at(start + 119n)
    expect(closedAs(await act('repay', ausd('1')))).toBe('Short')
    await fixture.rewind()
    await at(start + 120n)
    expect(closedAs(await act('repay', ausd('1')))).toBe('Qualified')
  })
})
