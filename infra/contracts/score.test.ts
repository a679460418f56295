import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { actionsOn, ausd, closedAs } from '#test/support/contract-actions'
import { fixtureTerms, openContractsFixture } from '#test/support/contracts'

const fixture = await openContractsFixture({ holdSeconds: 5_000, termSeconds: 10_000_000 })
const { act, answer, holdOf, now, at, untilReleased } = actionsOn(fixture)
afterAll(fixture.close)
beforeEach(async () => {
  await fixture.checkpoint()
  await act('topUp', 1, ausd('1000'))
})
afterEach(fixture.rewind)

const seen = () => fixture.accountOf('ana')
/** Debt × seconds that earns one reward. */
const leastDebtTime = fixtureTerms.minDebtMicro * BigInt(fixtureTerms.minCycleSeconds)

type Farm = { first: number; pieces: number; piece: bigint }

async function closeHeld({ first, pieces, piece }: Farm) {
  await act('draw', piece * BigInt(pieces))
  await fixture.warp(120)
  for (let ref = first; ref < first + pieces; ref++) await act('repayFor', ref, piece)
}

async function payBackOneByOne({ first, pieces, piece }: Farm) {
  for (let ref = first; ref < first + pieces; ref++) {
    await act('revokeRepayment', ref)
    await act('repay', piece)
  }
}

async function settle() {
  await fixture.warp(12_000)
  await act('withdraw', 1n)
}

describe('debt whose repayment was revoked', () => {
  const sizes = [
    [3, '0.5'],
    [10, '0.2'],
    [20, '0.1'],
  ] as const

  test.each(sizes)(
    'revoking and repaying %d held settlements of one cycle, of %s AUSD each, earns no reward',
    async (pieces, amount) => {
      const farm = { first: 10, pieces, piece: ausd(amount) }
      await closeHeld(farm)
      expect((await seen()).score).toBe(10n)
      await payBackOneByOne(farm)
      await settle()
      expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
    },
  )

  test.each(sizes)(
    'extending %d held settlements of %s AUSD before each revocation earns no reward',
    async (pieces, amount) => {
      const farm = { first: 10, pieces, piece: ausd(amount) }
      await closeHeld(farm)
      await fixture.warp(2_500)
      for (let ref = 10; ref < 10 + pieces; ref++) {
        if (ref % 2 === 0) await act('extendHold', ref)
      }
      await payBackOneByOne(farm)
      await settle()
      expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
    },
  )

  test.each(sizes)(
    'revoking %d held settlements of %s AUSD into an open cycle earns no reward',
    async (pieces, amount) => {
      const farm = { first: 10, pieces, piece: ausd(amount) }
      await closeHeld(farm)
      await act('draw', farm.piece)
      for (let ref = 10; ref < 10 + pieces; ref++) {
        await act('revokeRepayment', ref)
        await act('repay', farm.piece)
      }
      await act('repay', farm.piece)
      await settle()
      expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
    },
  )

  test('revoking the settlements of three cycles in turn takes back all three rewards', async () => {
    const farms = [10, 20, 30].map((first) => ({ first, pieces: 4, piece: ausd('1') }))
    for (const farm of farms) await closeHeld(farm)
    expect((await seen()).score).toBe(30n)
    for (let piece = 0; piece < 4; piece++) {
      for (const { first } of farms) {
        await act('revokeRepayment', first + piece)
        await act('repay', ausd('1'))
      }
    }
    await settle()
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
  })

  test('restored debt that is settled by held payments and revoked again earns no reward', async () => {
    const farm = { first: 10, pieces: 3, piece: ausd('1') }
    await closeHeld(farm)
    for (let round = 0; round < 3; round++) {
      for (let piece = 0; piece < 3; piece++) {
        await act('revokeRepayment', 10 + 3 * round + piece)
        await act('repayFor', 13 + 3 * round + piece, ausd('1'))
      }
    }
    await payBackOneByOne({ ...farm, first: 19 })
    await settle()
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
  })

  test('a revoked unit of a settlement, repaid alone, earns no reward for the debt of the rest', async () => {
    await act('draw', ausd('10'))
    await fixture.warp(120)
    await act('repayFor', 10, 1n)
    await act('repayFor', 11, ausd('10') - 1n)
    await act('revokeRepayment', 10)
    expect(closedAs(await act('repay', 1n))).toBe('Short')
    await act('revokeRepayment', 11)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: ausd('10') - 1n })
  })

  // guard: restored debt makes no cycle long enough
  test('restored debt, of a new cycle or in an open one, does not make a cycle long enough', async () => {
    await act('draw', 6n)
    await fixture.warp(120)
    for (let ref = 10; ref < 16; ref++) await act('repayFor', ref, 1n)
    for (let ref = 10; ref < 16; ref++) {
      // The restored unit is as old as the first cycle.
      if (ref % 2 === 0) await act('revokeRepayment', ref)
      await act('draw', ausd('400'))
      if (ref % 2 === 1) await act('revokeRepayment', ref)
      await at((await now()) + 2n)
      expect(closedAs(await act('repay', ausd('400') + 1n))).toBe('Short')
    }
    await settle()
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n, drawn: 0n })
  })

  test('a cycle below the least debt-time stays Short, however often its settlements are revoked', async () => {
    await act('draw', ausd('0.4'))
    const opened = await now()
    await at(opened + 100n)
    const outcomes = [closedAs(await act('repayFor', 10, ausd('0.1')))]
    for (const ref of [11, 12, 13]) outcomes.push(closedAs(await act('repayFor', ref, ausd('0.1'))))
    for (let round = 0; round < 5; round++) {
      for (let piece = 0; piece < 4; piece++) {
        await act('revokeRepayment', 10 + 4 * round + piece)
        outcomes.push(closedAs(await act('repayFor', 14 + 4 * round + piece, ausd('0.1'))))
      }
    }
    expect(new Set(outcomes)).toEqual(new Set([undefined, 'Short']))
    await settle()
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n })
  })

  // guard: a new cycle begins without debt-time
  // guard: restored debt counts in an open cycle from its restoration
  test('restored debt counts in an open cycle only from its restoration', async () => {
    const start = (await now()) + 10n
    await at(start)
    await act('draw', ausd('1'))
    await at(start + 1n)
    await act('repayFor', 10, ausd('1'))
    await at(start + 2n)
    await act('draw', ausd('0.1'))
    await at(start + 102n)
    await act('revokeRepayment', 10)
    await fixture.checkpoint()
    // The cycle has 10 AUSD-seconds until the restoration, then 1.1 per second.
    await at(start + 102n + 45n)
    expect(closedAs(await act('repay', ausd('1.1')))).toBe('Short')
    await fixture.rewind()
    await at(start + 102n + 46n)
    expect(closedAs(await act('repay', ausd('1.1')))).toBe('Qualified')
  })

  // guard: an extension that ends earlier moves no ratio reward
  test('the ratio reward does not move to an extended hold that ends before another', async () => {
    await act('draw', ausd('5'))
    await act('repayFor', 10, ausd('1'))
    await fixture.warp(4_500)
    await act('repayFor', 11, ausd('4'))
    await fixture.warp(300)
    await act('extendHold', 10)
    await untilReleased(10)
    expect(await seen()).toMatchObject({ score: 10n, ratioBps: 5_000n })
    await act('revokeRepayment', 11)
    expect(await seen()).toMatchObject({ score: 0n, ratioBps: 5_000n })
  })

  test('a cycle repaid from own AUSD does not wait for a hold of an earlier cycle', async () => {
    await closeHeld({ first: 10, pieces: 1, piece: ausd('5') })
    await act('draw', ausd('5'))
    await fixture.warp(120)
    await act('repay', ausd('5'))
    expect(await seen()).toMatchObject({ score: 20n, ratioBps: 5_250n })
    await untilReleased(10)
    expect((await seen()).ratioBps).toBe(5_500n)
  })
})

type Move = { kind: (typeof kinds)[number]; amount: bigint; seconds: number; pick: number }
const kinds = ['draw', 'held', 'heldAll', 'repayAll', 'revoke', 'takeBack', 'extend', 'wait'] as const
const steps: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds, 'held', 'held', 'heldAll', 'takeBack', 'takeBack'),
    amount: fc.bigInt(ausd('0.05'), ausd('0.5')),
    seconds: fc.integer({ min: 1, max: 10 }),
    pick: fc.nat(),
  }),
  { minLength: 20, maxLength: 40 },
)

const startOf = ([min, max]: readonly [number, number]): fc.Arbitrary<Move[]> =>
  fc
    .record({
      seconds: fc.integer({ min, max }),
      end: fc.constantFrom('repayAll', 'heldAll', 'held', 'wait'),
    })
    .map(({ seconds, end }) => [
      { kind: 'draw', amount: ausd('0.5'), seconds: 0, pick: 0 },
      { kind: 'wait', amount: 0n, seconds, pick: 0 },
      { kind: end, amount: ausd('0.25'), seconds: 1, pick: 0 },
    ])

// Half a unit reaches the least debt-time after 120 s. Larger debts reach it within seconds, but are repaid too soon.
test.each([
  // guard: a cycle needs all of the least debt-time
  ['small', 1n, [100, 140], 9n],
  ['large', 40n, [50, 62], 5n],
] as const)(
  'no sequence of calls with %s debts earns more rewards than closed cycles with enough debt-time',
  async (_case, scale, seconds, leastRewards) => {
    let rewards = 0n
    let revocations = 0
    let refs = 100
    const property = fc.asyncProperty(startOf(seconds), steps, async (start, sequence) => {
      await fixture.checkpoint()
      const held: number[] = []
      const cycleOf = new Map<number, bigint>()
      const times = new Map<bigint, bigint>()
      const timeOf = (cycle: bigint) => times.get(cycle) ?? 0n
      const reversed = new Set<bigint>()
      /** Opening times of cycles. Restored debt may be older than its cycle. */
      const opened = new Map<bigint, bigint>()
      let since = await now()
      let peak = 0n
      for (const step of [...start, ...sequence]) await make(step)
      rewards += peak / 10n
      await fixture.rewind()

      async function check(work: () => ReturnType<typeof act> | Promise<void>, ref?: number) {
        const before = await seen()
        const cycle = before.cycles + 1n
        const sent = await work()
        const time = await now()
        times.set(cycle, timeOf(cycle) + before.drawn * (time - since))
        since = time
        const from = ref === undefined ? cycle : cycleOf.get(ref)!
        if (ref !== undefined) reversed.add(from)
        const { score, ratioBps, cycles, openedAt } = await seen()
        if (openedAt > 0n && !opened.has(cycles + 1n)) opened.set(cycles + 1n, time)
        const closed = [...times].filter(([number]) => number <= cycles && !reversed.has(number))
        const most = BigInt(closed.filter(([, debtTime]) => debtTime >= leastDebtTime).length)
        expect(score).toBeLessThanOrEqual(10n * most)
        expect(ratioBps).toBeLessThanOrEqual(5_000n + 250n * most)
        if (sent && closedAs(sent) === 'Qualified')
          expect(Number(time - opened.get(cycle)!)).toBeGreaterThanOrEqual(fixtureTerms.minCycleSeconds)
        if (score > peak) peak = score
      }

      async function make({ kind, amount, seconds, pick }: Move) {
        const { drawn, cycles } = await seen()
        const ref = held[pick % Math.max(held.length, 1)]
        if (kind === 'wait') return check(() => fixture.warp(seconds))
        if (kind === 'draw') return check(() => act('draw', scale * amount))
        if (kind === 'revoke' || kind === 'takeBack' || kind === 'extend') {
          if (ref === undefined) return
          if (kind === 'extend') {
            if ((await answer('extendHold', ref)) === 'accepted') await check(() => act('extendHold', ref))
            return
          }
          const left = pick % 3 === 0 ? amount : 0n
          const { encumbered } = await holdOf(ref)
          if (encumbered > left && (await answer('revokeRepayment', ref, left)) === 'accepted') {
            await check(() => act('revokeRepayment', ref, left), ref)
            revocations++
          }
          const restored = (await seen()).drawn
          if (kind === 'takeBack' && restored > 0n) await check(() => act('repay', restored))
          return
        }
        if (drawn === 0n) return
        const paid = kind.endsWith('All') ? drawn : amount < drawn ? amount : drawn
        if (kind.startsWith('repay')) return check(() => act('repay', paid))
        held.push(++refs)
        cycleOf.set(refs, cycles + 1n)
        return check(() => act('repayFor', refs, paid))
      }
    })
    await fc.assert(property, { numRuns: 25, seed: 5, endOnFailure: true })
    expect(rewards).toBeGreaterThan(leastRewards)
    expect(revocations).toBeGreaterThan(30)
  },
)
