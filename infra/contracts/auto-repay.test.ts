import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { concat, encodeFunctionData, type Hex, maxUint96 } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd, closedAs, named } from '#test/support/contract-actions'
import { type Actor, actors, fixtureTerms, openContractsFixture } from '#test/support/contracts'

const fixture = await openContractsFixture({ holdSeconds: 1_000 })
const { act, answer, read, now, at, until } = actionsOn(fixture)
afterAll(fixture.close)
afterEach(fixture.rewind)

const { ausd: token, creditLine } = fixture.deployment
const term = BigInt(fixtureTerms.termSeconds)
const grace = BigInt(fixtureTerms.graceSeconds)
const recording = BigInt(recordingSeconds)

async function allowed(actor: Actor = 'ana', of = fixture) {
  const [maxPerCycle, fromCollateral, taken, from] = await of.client.readContract({
    abi: creditLineAbi,
    address: of.deployment.creditLine,
    functionName: 'autoRepayOf',
    args: [actors[actor].address],
  })
  return { maxPerCycle, fromCollateral, taken, from }
}

const seen = () => fixture.accountOf('ana')
const wallet = (actor: Actor) => fixture.balanceOf(actors[actor].address)
const approve = (amount: bigint) => fixture.send('ana', 'ausd', 'approve', [creditLine, amount])
/** Lets the next block have the first second in which `autoRepay` works. */
const reach = async () => at((await allowed()).from)
const sources = [
  ['the wallet', false],
  ['collateral', true],
] as const

let openedAt = 0n
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('200'))
  await act('draw', ausd('50'))
  openedAt = await now()
})

describe('the permission', () => {
  test('an account sets and ends its permission, and repeating a call emits nothing', async () => {
    expect(await allowed()).toMatchObject({ maxPerCycle: 0n, fromCollateral: false })
    const set = await act('setAutoRepay', ausd('30'), true)
    expect(set.events).toMatchObject([
      {
        eventName: 'AutoRepaySet',
        args: { account: actors.ana.address, maxPerCycle: ausd('30'), fromCollateral: true },
      },
    ])
    expect(await allowed()).toMatchObject({ maxPerCycle: ausd('30'), fromCollateral: true })
    expect(named(await act('setAutoRepay', ausd('30'), true))).toEqual([])
    expect(named(await act('setAutoRepay', ausd('30'), false))).toEqual(['AutoRepaySet'])
    const ended = await act('setAutoRepay', 0n, true)
    expect(ended.events).toMatchObject([{ args: { maxPerCycle: 0n, fromCollateral: false } }])
    expect(named(await act('setAutoRepay', 0n, false))).toEqual([])
    expect(await allowed()).toMatchObject({ maxPerCycle: 0n, fromCollateral: false })
  })

  test('a bound fits into 96 bits, and a larger one is refused', async () => {
    expect(await answer('setAutoRepay', maxUint96 + 1n)).toBe('SafeCastOverflowedUintDowncast')
    await act('setAutoRepay', maxUint96)
    expect(await allowed()).toMatchObject({ maxPerCycle: maxUint96 })
    await reach()
    await act('autoRepay')
    expect(await seen()).toMatchObject({ drawn: 0n })
  })

  test('the permission can be set without verification, while frozen and during a pause', async () => {
    await act('setFrozen', true)
    await act('pause')
    await act('setAutoRepay', 1n)
    await act('setAutoRepay', 2n, true, 'citra')
    expect(await allowed()).toMatchObject({ maxPerCycle: 1n })
    expect(await allowed('citra')).toEqual({ maxPerCycle: 2n, fromCollateral: true, taken: 0n, from: 0n })
  })

  // guard: only an account that allowed it is repaid automatically
  test('nobody repays an account that never allowed it, or ended it', async () => {
    await act('setAutoRepay', ausd('50'), true, 'budi')
    await until(openedAt + term)
    for (const by of ['relayer', 'admin', 'ana', 'budi'] as const) {
      expect(await answer('autoRepay', 'ana', by)).toBe('AutoRepayNotAllowed')
    }
    await act('setAutoRepay', ausd('50'))
    await act('setAutoRepay', 0n)
    expect(await answer('autoRepay')).toBe('AutoRepayNotAllowed')
  })
})

describe('the time', () => {
  // guard: nothing is repaid automatically before its time
  test('autoRepay works from its first second on, and not a second before', async () => {
    await act('setAutoRepay', ausd('50'))
    const { from } = await allowed()
    await until(from - 1n)
    expect(await answer('autoRepay')).toBe('AutoRepayTooEarly')
    await until(from)
    expect(await answer('autoRepay')).toBe('accepted')
  })

  test.each([
    ['half of a term of an odd length', 1_801, 900n],
    ['half of a term just below two days', 172_799, 86_399n],
    ['a day of a term of two days', 172_800, 86_400n],
    ['a day of a long term', 30 * 86_400, 86_400n],
  ])('autoRepay works from %s before the due date on', async (_case, termSeconds, ahead) => {
    const other = await openContractsFixture({ termSeconds })
    try {
      const actions = actionsOn(other)
      await actions.act('topUp', 1, ausd('200'))
      await actions.act('draw', ausd('50'))
      const { dueAt } = await other.accountOf('ana')
      expect((await allowed('ana', other)).from).toBe(dueAt - ahead)
    } finally {
      await other.close()
    }
  })

  test.each(sources)(
    'an overdue debt of a frozen and unverified account is repaid from %s, late',
    async (_name, from) => {
      await act('setAutoRepay', ausd('50'), from)
      await act('setFrozen', true)
      await act('setVerified', false)
      await at(openedAt + term + 1n)
      expect(closedAs(await act('autoRepay'))).toBe('Late')
      expect(await seen()).toMatchObject({ drawn: 0n })
    },
  )

  test('a debt that is repaid in its last second is not late', async () => {
    await act('setAutoRepay', ausd('50'))
    await at(openedAt + term)
    expect(closedAs(await act('autoRepay'))).toBe('Qualified')
  })

  test('nothing is repaid during a pause, whose end moves the first second', async () => {
    await act('setAutoRepay', ausd('50'))
    const { from } = await allowed()
    await at(from + 10n)
    await act('pause')
    expect(await answer('autoRepay')).toBe('EnforcedPause')
    await at(from + 1_010n)
    await act('unpause')
    expect((await allowed()).from).toBe(from + 1_000n)
    expect(await answer('autoRepay')).toBe('accepted')
  })

  test('an account without a debt, or with a defaulted one, owes nothing', async () => {
    await act('setAutoRepay', ausd('50'), false, 'budi')
    expect(await answer('autoRepay', 'budi')).toBe('NothingOwed')
    expect(await allowed('budi')).toMatchObject({ taken: 0n, from: 0n })
    await act('setAutoRepay', ausd('20'))
    await at(openedAt + term + grace + recording + 1n)
    await act('markDefault')
    expect(await answer('autoRepay')).toBe('NothingOwed')
    expect(await allowed()).toEqual({ maxPerCycle: ausd('20'), fromCollateral: false, taken: 0n, from: 0n })
  })

  test('in the second of a default, the first of repayment and default wins', async () => {
    await act('setAutoRepay', ausd('50'))
    await until(openedAt + term + grace + recording + 1n)
    expect([await answer('autoRepay'), await answer('markDefault')]).toEqual(['accepted', 'accepted'])
    await act('autoRepay')
    expect(await answer('markDefault')).toBe('NothingOwed')
    expect(await seen()).toMatchObject({ drawn: 0n, defaulted: false })
  })
})

describe('the repayment', () => {
  test.each([
    ['the wallet', false, ['AutoRepaid', 'Repaid', 'CycleClosed', 'Transfer']],
    ['collateral', true, ['AutoRepaid', 'CollateralWithdrawn', 'Repaid', 'CycleClosed']],
  ] as const)('AutoRepaid comes directly before the events of a repayment from %s', async (_name, from, names) => {
    await act('setAutoRepay', ausd('60'), from)
    await reach()
    const sent = await act('autoRepay')
    expect(named(sent)).toEqual([...names])
    const account = actors.ana.address
    expect(sent.events[0]).toMatchObject({ args: { account, amount: ausd('50'), fromCollateral: from } })
    const repaid = sent.events.find((one) => one.eventName === 'Repaid')
    expect(repaid).toMatchObject({ args: { ref: `0x${'0'.repeat(64)}`, account, payer: account, amount: ausd('50') } })
  })

  test.each([
    ['the wallet', false, 'repay'],
    ['collateral', true, 'repayFromCollateral'],
  ] as const)('a repayment from %s leaves what the own call of the account leaves', async (_name, from, own) => {
    await act('topUp', 2, ausd('30'), true)
    await act('repayFor', 3, ausd('8'))
    await act('setAutoRepay', ausd('42'), from)
    const leaves = async (run: () => Promise<unknown>) => {
      await fixture.checkpoint()
      await reach()
      await run()
      const pools = [await read('liquidity'), await read('totalCollateral'), await read('totalShares')]
      const { events, ...account } = await seen()
      const balances = [await wallet('ana'), await fixture.balanceOf(creditLine), await wallet('citra')]
      await fixture.rewind()
      return { account, pools, balances, events }
    }
    const byItself = await leaves(() => act(own, ausd('42')))
    const ordered = await leaves(() => act('autoRepay', 'ana', 'citra'))
    expect(ordered).toEqual({ ...byItself, events: byItself.events + 1n })
    expect(ordered.account).toMatchObject({ drawn: 0n, cycles: 1n })
  })

  test.each(sources)(
    'only the account pays for an automatic repayment from %s, not who ordered it, nor the treasury',
    async (_name, from) => {
      await act('setAutoRepay', ausd('50'), from)
      await reach()
      const others = async () => [
        await wallet('budi'),
        await wallet('treasury'),
        (await fixture.accountOf('budi')).collateral,
      ]
      const before = await others()
      const [held, { collateral }] = [await wallet('ana'), await seen()]
      await act('autoRepay', 'ana', 'budi')
      expect(await others()).toEqual(before)
      expect(await wallet('ana')).toBe(from ? held : held - ausd('50'))
      expect((await seen()).collateral).toBe(from ? collateral - ausd('50') : collateral)
    },
  )

  test('a bound above the debt takes the debt alone', async () => {
    await act('setAutoRepay', ausd('90'))
    await act('repay', ausd('20'))
    const before = await wallet('ana')
    await reach()
    await act('autoRepay')
    expect(await wallet('ana')).toBe(before - ausd('30'))
    expect(await seen()).toMatchObject({ drawn: 0n })
    expect(await answer('autoRepay')).toBe('NothingOwed')
  })

  test('a source that is short by a unit pays nothing', async () => {
    await act('setAutoRepay', ausd('50'))
    await reach()
    await approve(ausd('50') - 1n)
    const before = await seen()
    expect(await answer('autoRepay')).toBe('ERC20InsufficientAllowance')
    await approve(ausd('50'))
    const rest = await wallet('ana')
    await fixture.send('ana', 'ausd', 'transfer', [actors.citra.address, rest - ausd('50') + 1n])
    expect(await answer('autoRepay')).toBe('ERC20InsufficientBalance')
    expect({ account: await seen(), ...(await allowed()) }).toMatchObject({ account: before, taken: 0n })
    await fixture.send('citra', 'ausd', 'transfer', [actors.ana.address, 1n])
    await act('autoRepay')
    expect([await wallet('ana'), (await seen()).drawn]).toEqual([0n, 0n])
  })
})

describe('the bound', () => {
  // guard: an automatic repayment keeps to its bound per cycle
  // guard: an automatic repayment counts in its cycle
  test('a cycle is repaid up to its bound, once', async () => {
    await act('setAutoRepay', ausd('30'))
    await reach()
    await act('autoRepay')
    expect({ ...(await seen()), ...(await allowed()) }).toMatchObject({ drawn: ausd('20'), taken: ausd('30') })
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
    await until(openedAt + term + grace)
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
  })

  test('a bound that is raised in a cycle gives the difference, and one that is lowered nothing', async () => {
    await act('setAutoRepay', ausd('30'))
    await reach()
    await act('autoRepay')
    await act('setAutoRepay', ausd('10'))
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
    await act('setAutoRepay', ausd('30'), true)
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
    await act('setAutoRepay', ausd('45'), true)
    const { collateral } = await seen()
    await act('autoRepay')
    expect(await seen()).toMatchObject({ drawn: ausd('5'), collateral: collateral - ausd('15') })
    expect(await allowed()).toMatchObject({ taken: ausd('45') })
  })

  test('ending the permission and setting it again gives nothing more in the same cycle', async () => {
    await act('setAutoRepay', ausd('30'))
    await reach()
    await act('autoRepay')
    await act('setAutoRepay', 0n)
    expect(await allowed()).toMatchObject({ maxPerCycle: 0n, taken: ausd('30') })
    await act('setAutoRepay', ausd('30'))
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
  })

  test('debt restored to the open cycle is held to what is left of its bound', async () => {
    await act('repayFor', 2, ausd('15'))
    await act('setAutoRepay', ausd('30'))
    await reach()
    await act('autoRepay')
    await act('revokeRepayment', 2)
    expect({ ...(await seen()), ...(await allowed()) }).toMatchObject({ drawn: ausd('20'), taken: ausd('30') })
    expect(await answer('autoRepay')).toBe('AutoRepayLimitReached')
  })

  test('a new cycle begins with the whole bound, and waits for its own time', async () => {
    await act('setAutoRepay', ausd('50'))
    await reach()
    await act('autoRepay')
    expect(await allowed()).toMatchObject({ taken: 0n, from: 0n })
    await act('draw', ausd('60'))
    const { taken, from } = await allowed()
    expect([taken, from]).toEqual([0n, (await now()) + term / 2n])
    expect(await answer('autoRepay')).toBe('AutoRepayTooEarly')
    await reach()
    await act('autoRepay')
    expect({ ...(await seen()), ...(await allowed()) }).toMatchObject({ drawn: ausd('10'), taken: ausd('50') })
  })

  test('a cycle that continues restored debt begins with the whole bound, at once', async () => {
    await act('setAutoRepay', ausd('40'))
    await until(openedAt + term / 2n)
    await act('autoRepay')
    await act('repayFor', 2, ausd('10'))
    expect(await seen()).toMatchObject({ drawn: 0n, cycles: 1n })
    await act('revokeRepayment', 2)
    expect(await allowed()).toMatchObject({ taken: 0n, from: openedAt + term / 2n })
    await act('autoRepay')
    expect({ ...(await seen()), ...(await allowed()) }).toMatchObject({ drawn: 0n, cycles: 2n })
    expect(await answer('autoRepay')).toBe('NothingOwed')
  })
})

test('a token that calls the credit line again is refused', async () => {
  await act('setAutoRepay', ausd('50'))
  const again = encodeFunctionData({ abi: creditLineAbi, functionName: 'autoRepay', args: [actors.ana.address] })
  // The code calls the credit line, returns true if that succeeds, and else its error.
  const calls = `0x602460365f395f5f60245f5f73${creditLine.slice(2)}5af13d5f5f3e602d57` as Hex
  const code = concat([calls, '0x3d5ffd5b60015f5260205ff3', again])
  await fixture.client.setCode({ address: token, bytecode: code })
  await until((await allowed()).from)
  expect(await answer('autoRepay')).toBe('ReentrancyGuardReentrantCall')
})

describe('near the highest price of a share', async () => {
  const dear = await openContractsFixture({ holdSeconds: 900_000, initialRatioBps: 9_000 })
  const line = actionsOn(dear)
  afterAll(dear.close)
  afterEach(dear.rewind)

  // Each unit that is repaid from collateral burns two shares.
  beforeEach(async () => {
    await dear.checkpoint()
    await line.act('topUp', 100, 1n, false, 'budi')
    await line.act('addYield', 1_999_970n)
    await line.act('topUp', 101, 100n)
    await line.act('draw', 89n)
    for (let repaid = 0; repaid < 20; repaid++) await line.act('repayFromCollateral', 1n)
    await line.until((await allowed('ana', dear)).from)
  })

  test('collateral that is too little pays nothing, and held collateral does not count', async () => {
    await line.act('setAutoRepay', maxUint96, true)
    expect(await dear.accountOf('ana')).toMatchObject({ collateral: 59n, drawn: 69n })
    expect(await line.answer('autoRepay')).toBe('InsufficientCollateral')
    await line.act('topUp', 2, 40n, true)
    expect(await line.answer('autoRepay')).toBe('InsufficientCollateral')
    await line.act('topUp', 3, 40n)
    await line.act('autoRepay')
    const { drawn, pendingShares, collateral } = await dear.accountOf('ana')
    expect([drawn, pendingShares, collateral < 31n]).toEqual([0n, 40n, true])
  })

  test('the dust of repayments of one unit never lowers the price of a share', async () => {
    const price = async () => ({
      collateral: (await line.read('totalCollateral')) + 1n,
      shares: (await line.read('totalShares')) + 1_000_000n,
    })
    for (let max = 1n; max <= 5n; max++) {
      await line.act('setAutoRepay', max, true)
      const before = await price()
      await line.act('autoRepay')
      const after = await price()
      expect(after.shares).toBe(before.shares - 2n)
      expect(after.collateral * before.shares).toBeGreaterThanOrEqual(before.collateral * after.shares)
      expect(await allowed('ana', dear)).toMatchObject({ taken: max })
    }
  })
})
