import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { encodeFunctionData, numberToHex } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, fixtureTerms, openContractsFixture, refOf } from '#test/support/contracts'

const hold = 900_000n
const fixture = await openContractsFixture({ holdSeconds: Number(hold) }, ['--order', 'fifo'])
const { act, answer, now, at, until } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)
const recording = BigInt(recordingSeconds)
const day = 86_400n
const holdStep = (hold + 14n) / 15n

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
    await until(openedAt + term + grace + recording + 1n)
    await act('markDefault')
    expect(await dates()).toEqual(none)
  })

  // guard: a default waits until every payment made in the grace can have been recorded
  test('markDefault is refused until the last second of the week after defaultsAt', async () => {
    const { defaultsAt } = await dates()
    await until(defaultsAt + recording)
    expect(await answer('markDefault')).toBe('TermNotPassed')
    await until(defaultsAt + recording + 1n)
    expect(await answer('markDefault')).toBe('accepted')
  })

  test('a pause moves the due date by its length when it ends, as TermsExtended reports', async () => {
    await at(openedAt + 100n)
    await act('pause')
    await until(openedAt + 600n)
    expect(await dates()).toEqual(datesOf(openedAt))
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

const later = (left: bigint, right: bigint) => (left > right ? left : right)
const earlier = (left: bigint, right: bigint) => (left < right ? left : right)

/** Returns the last second of grace, of debt that was last restored at `restoredAt`. */
function defaultsAtOf(dueAt: bigint, restoredAt: bigint): bigint {
  const lastRevocation = dueAt + grace + recording + hold + day + 2n * holdStep
  return later(dueAt + grace, earlier(restoredAt, lastRevocation) + day)
}

async function datesFromEvents() {
  let open = none
  let restoredAt = 0n
  let pausedAt: bigint | undefined
  const { creditLine: address } = fixture.deployment
  const events = await fixture.client.getContractEvents({
    abi: creditLineAbi,
    address,
    fromBlock: 0n,
    strict: true,
  })
  for (const { eventName, args, blockNumber } of events) {
    const { timestamp } = await fixture.client.getBlock({ blockNumber })
    if (eventName === 'Paused') pausedAt = timestamp
    if ('account' in args && args.account !== actors.ana.address) continue
    if (eventName === 'CycleOpened') restoredAt = 0n
    if (eventName === 'CycleOpened' || eventName === 'CycleRedated') open = { ...none, ...args }
    else if (eventName === 'CycleClosed') open = none
    else if (eventName === 'RepaymentRevoked') restoredAt = pausedAt ?? timestamp
    else if (eventName === 'TermsExtended') {
      pausedAt = undefined
      if (open === none) continue
      open = { ...open, dueAt: open.dueAt + args.seconds_ }
      if (restoredAt > 0n) restoredAt += args.seconds_
    }
  }
  if (open === none) return none
  const { openedAt, dueAt } = open
  return { openedAt, dueAt, defaultsAt: defaultsAtOf(dueAt, restoredAt) }
}

describe('the events report each change of the dates', () => {
  const wait = (seconds: number) => () => fixture.warp(seconds)
  const pause = () => act('pause')
  const unpause = () => act('unpause')
  const settle = () => act('repayFor', 2, ausd('50'))
  const revoke = () => act('revokeRepayment', 2)
  /** Steps in which the revocation brings the dates of the first cycle into a younger one. */
  const redraw = [
    () => act('repayFor', 2, ausd('10')),
    () => act('repay', ausd('40')),
    wait(600),
    () => act('draw', ausd('15')),
  ]

  test.each([
    ['for a pause', [pause, wait(500), unpause, wait(100)]],
    ['for two pauses', [pause, wait(500), unpause, wait(100), pause, wait(60), unpause]],
    ['if a revocation reopens a cycle during a pause', [settle, pause, wait(500), revoke, unpause]],
    [
      'if a revocation reopens a cycle in the second pause',
      [settle, pause, wait(40), unpause, wait(9), pause, wait(500), revoke, wait(30), unpause],
    ],
    [
      'if a revocation gives the open cycle older dates during a pause',
      [...redraw, pause, wait(500), revoke, wait(70), unpause],
    ],
    [
      'if a cycle is reopened, closed and reopened during a pause',
      [
        settle,
        pause,
        wait(50),
        () => act('revokeRepayment', 2, ausd('20')),
        wait(50),
        () => act('repay', ausd('30')),
        revoke,
        wait(50),
        unpause,
      ],
    ],
    [
      'if a cycle reopened during a pause is paid back after it',
      [settle, pause, wait(50), revoke, wait(50), unpause, () => act('repay', ausd('50'))],
    ],
    ['if a revocation reopens a cycle after its grace period', [settle, wait(700_000), revoke, wait(100)]],
    [
      'if a revocation reopens a cycle after its grace period, before a pause',
      [settle, wait(700_000), revoke, wait(40), pause, wait(500), unpause],
    ],
    [
      'if a revocation reopens a cycle during a pause after its grace period',
      [settle, wait(700_000), pause, wait(500), revoke, wait(70), unpause, wait(100)],
    ],
  ])('%s', async (_case, steps) => {
    for (const step of steps) {
      await step()
      expect(await datesFromEvents()).toEqual(await dates())
    }
  })

  test('if a pause and a revocation in it take no time', async () => {
    await settle()
    const { creditLine: to } = fixture.deployment
    const calls = [
      ['admin', { functionName: 'pause' }],
      ['relayer', { functionName: 'revokeRepayment', args: [refOf(2), 0n] }],
      ['admin', { functionName: 'unpause' }],
    ] as const
    for (const [from, call] of calls) {
      const data = encodeFunctionData({ abi: creditLineAbi, ...call })
      const sent = { from: actors[from].address, to, data, gas: numberToHex(1_000_000) }
      await fixture.request({ method: 'eth_sendTransaction', params: [sent] })
    }
    await fixture.client.mine({ blocks: 1 })
    const { transactions } = await fixture.client.getBlock()
    expect(transactions).toHaveLength(calls.length)
    expect(await dates()).toEqual(datesOf(openedAt))
    expect(await datesFromEvents()).toEqual(await dates())
  })
})
