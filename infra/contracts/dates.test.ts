import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { fixtureTerms, openContractsFixture } from '#test/support/contracts'

const fixture = await openContractsFixture({ holdSeconds: 200_000 })
const { act, answer, now, at, until } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)

const dates = async () => {
  const { openedAt, dueAt, defaultsAt } = await fixture.accountOf('ana')
  return { openedAt, dueAt, defaultsAt }
}
const datesOf = (openedAt: bigint, moved = 0n) => ({
  openedAt,
  dueAt: openedAt + term + moved,
  defaultsAt: openedAt + term + moved + grace,
})
const none = { openedAt: 0n, dueAt: 0n, defaultsAt: 0n }
const eventOf = (sent: Awaited<ReturnType<typeof act>>, name: string) =>
  sent.events.find((one) => one.eventName === name)?.args

let opened: Awaited<ReturnType<typeof act>>
let openedAt = 0n
/** Ana has 100 AUSD of collateral and has drawn 50. */
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('100'))
  opened = await act('draw', ausd('50'))
  openedAt = await now()
})

describe('the dates of a cycle', () => {
  test('a draw opens a cycle whose dates accountOf and CycleOpened report', async () => {
    expect(await dates()).toEqual(datesOf(openedAt))
    expect(eventOf(opened, 'CycleOpened')).toMatchObject({
      number: 1n,
      openedAt,
      dueAt: (await dates()).dueAt,
    })
    await act('repay', ausd('10'))
    await act('draw', ausd('10'))
    expect(await dates()).toEqual(datesOf(openedAt))
  })

  test('a closed cycle has no dates', async () => {
    await act('repay', ausd('50'))
    expect(await dates()).toEqual(none)
  })

  test('a default ends the dates', async () => {
    await until(openedAt + term + grace + 1n)
    await act('markDefault')
    expect(await dates()).toEqual(none)
  })

  test('defaultsAt is the last second in which markDefault is refused', async () => {
    const { defaultsAt } = await dates()
    await until(defaultsAt)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(defaultsAt + 1n)
    expect(await answer('markDefault')).toBe('accepted')
  })

  test('during a pause the due date moves with the clock, and TermsExtended reports by how much', async () => {
    await at(openedAt + 100n)
    await act('pause')
    expect(await dates()).toEqual(datesOf(openedAt))
    await until(openedAt + 600n)
    expect(await dates()).toEqual(datesOf(openedAt, 500n))
    await at(openedAt + 1_100n)
    const sent = await act('unpause')
    expect(eventOf(sent, 'TermsExtended')).toMatchObject({ seconds_: 1_000n })
    expect(await dates()).toEqual(datesOf(openedAt, 1_000n))
    await fixture.warp(300)
    expect(await dates()).toEqual(datesOf(openedAt, 1_000n))
  })

  test('a cycle that opens after a pause is due one term later', async () => {
    await act('pause')
    await fixture.warp(700)
    await act('unpause')
    await act('repay', ausd('50'))
    const sent = await act('draw', ausd('5'))
    const reopenedAt = await now()
    expect(await dates()).toEqual(datesOf(reopenedAt))
    expect(eventOf(sent, 'CycleOpened')).toMatchObject({ dueAt: reopenedAt + term })
  })

  test('revoking the repayment of a closed cycle reopens the debt with the old dates', async () => {
    await fixture.warp(300)
    await act('repayFor', 2, ausd('50'))
    expect(await dates()).toEqual(none)
    await act('pause')
    const pausedAt = await now()
    await at(pausedAt + 400n)
    await act('unpause')
    await fixture.warp(100)
    const sent = await act('revokeRepayment', 2)
    const restored = datesOf(openedAt, 400n)
    expect(await dates()).toEqual(restored)
    const { dueAt } = restored
    expect(eventOf(sent, 'CycleOpened')).toMatchObject({ number: 2n, openedAt, dueAt })
  })

  test('restoring debt into a younger open cycle emits CycleRedated with the earlier dates', async () => {
    await act('repayFor', 2, ausd('10'))
    await act('repay', ausd('40'))
    await fixture.warp(600)
    await act('draw', ausd('15'))
    expect(await dates()).toEqual(datesOf(await now()))
    const sent = await act('revokeRepayment', 2)
    expect(await dates()).toEqual(datesOf(openedAt))
    expect(eventOf(sent, 'CycleRedated')).toMatchObject({
      number: 2n,
      openedAt,
      dueAt: openedAt + term,
    })
  })

  test('revoking within the open cycle moves no date and emits no CycleRedated', async () => {
    await act('repayFor', 2, ausd('10'))
    const sent = await act('revokeRepayment', 2)
    expect(await dates()).toEqual(datesOf(openedAt))
    expect(eventOf(sent, 'CycleRedated')).toBeUndefined()
  })
})
