import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const { creditLine } = fixture.deployment
const virtualShares = 1_000_000n
let refs = 0

const total = (functionName: 'totalCollateral' | 'totalShares' | 'poolBalance') =>
  fixture.client.readContract({ abi: creditLineAbi, address: creditLine, functionName })

async function readAll() {
  const [collateral, shares, pool, balance, ana, budi] = await Promise.all([
    total('totalCollateral'),
    total('totalShares'),
    total('poolBalance'),
    fixture.balanceOf(creditLine),
    fixture.accountOf('ana'),
    fixture.accountOf('budi'),
  ])
  return { collateral, shares, pool, balance, ana, budi }
}

type User = 'ana' | 'budi'
type Move = { kind: (typeof kinds)[number]; user: User; amountMicro: bigint }
const kinds = [
  'topUp',
  'held',
  'repayFor',
  'heldRepayFor',
  'yield',
  'withdraw',
  'draw',
  'fromCollateral',
  'revoke',
  'revokePart',
  'revokeRepayment',
  'revokeRepaymentPart',
  'wait',
] as const
const steps: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    user: fc.constantFrom<User>('ana', 'budi'),
    amountMicro: fc.oneof(fc.bigInt(1n, 60n), fc.bigInt(1n, 10_000_000n)),
  }),
  { minLength: 4, maxLength: 14 },
)

/** Returns the call of a move. A revocation concerns the latest payment, held or not. */
function callOf({ kind, user, amountMicro }: Move) {
  const account = actors[user].address
  const fresh = () => refOf(++refs)
  switch (kind) {
    case 'topUp':
      return ['relayer', 'topUp', [fresh(), account, amountMicro, false]] as const
    case 'held':
      return ['relayer', 'topUp', [fresh(), account, amountMicro, true]] as const
    case 'repayFor':
      return ['relayer', 'repayFor', [fresh(), account, amountMicro, false, 0n]] as const
    case 'heldRepayFor':
      return ['relayer', 'repayFor', [fresh(), account, amountMicro, true, 0n]] as const
    case 'yield':
      return ['admin', 'addYield', [amountMicro * 1_000n]] as const
    case 'withdraw':
      return [user, 'withdrawCollateral', [amountMicro, account]] as const
    case 'draw':
      return [user, 'draw', [amountMicro, account]] as const
    case 'fromCollateral':
      return [user, 'repayFromCollateral', [amountMicro]] as const
    case 'revoke':
      return ['relayer', 'revokeTopUp', [refOf(refs), 0n]] as const
    case 'revokePart':
      return ['relayer', 'revokeTopUp', [refOf(refs), amountMicro]] as const
    case 'revokeRepayment':
      return ['relayer', 'revokeRepayment', [refOf(refs), 0n]] as const
    case 'revokeRepaymentPart':
      return ['relayer', 'revokeRepayment', [refOf(refs), amountMicro]] as const
    case 'wait':
      return undefined
  }
}

async function take(step: Move): Promise<boolean> {
  const call = callOf(step)
  if (!call) {
    await fixture.warp(30)
    return true
  }
  const [actor, name, args] = call
  const accepted = (await fixture.refusal(actor, 'creditLine', name, args as never)) === 'accepted'
  if (accepted) await fixture.send(actor, 'creditLine', name, args as never)
  return accepted
}

type Balances = Awaited<ReturnType<typeof readAll>>
const heldBy = ({ ana, budi }: Balances) => ana.shares + ana.pendingShares + budi.shares + budi.pendingShares
const worth = (seen: Balances, user: User) =>
  ((seen[user].shares + seen[user].pendingShares) * (seen.collateral + 1n)) / (seen.shares + virtualShares)

function expectSound(before: Balances, after: Balances, step: Move) {
  const revokes = step.kind.startsWith('revoke')
  // A revocation costs all other shares less than one share's value. No other call costs them anything.
  const lost =
    (before.collateral + 1n) * (after.shares + virtualShares) -
    (after.collateral + 1n) * (before.shares + virtualShares)
  expect(lost).toBeLessThan(revokes ? before.collateral + 1n : 1n)
  expect(after.shares).toBe(heldBy(after))
  expect(after.balance).toBe(after.collateral + after.pool)
  expect(worth(after, 'ana') + worth(after, 'budi')).toBeLessThanOrEqual(after.collateral)
  if (step.kind === 'yield') return
  if (revokes) {
    // A share is worth at most a unit.
    for (const user of ['ana', 'budi'] as const) {
      if (after[user].pendingShares < before[user].pendingShares) continue
      expect(worth(after, user)).toBeGreaterThanOrEqual(worth(before, user) - 1n)
    }
    return
  }
  const { user } = step
  // The account gained no more than was paid in.
  const inflow = ['topUp', 'held', 'repayFor', 'heldRepayFor'].includes(step.kind) ? step.amountMicro : 0n
  const outflow = ['withdraw', 'draw'].includes(step.kind) ? step.amountMicro : 0n
  const net = (seen: Balances) => worth(seen, user) - seen[user].drawn
  expect(net(after) + outflow).toBeLessThanOrEqual(net(before) + inflow)
  const other = user === 'ana' ? 'budi' : 'ana'
  expect(worth(after, other)).toBeGreaterThanOrEqual(worth(before, other))
}

describe('shares', () => {
  test('no sequence of calls rounds in favour of an account', async () => {
    let accepted = 0
    const property = fc.asyncProperty(steps, async (sequence) => {
      await fixture.checkpoint()
      let before = await readAll()
      for (const step of sequence) {
        if (!(await take(step))) continue
        accepted++
        const after = await readAll()
        expectSound(before, after, step)
        before = after
      }
      await fixture.rewind()
    })
    await fc.assert(property, { numRuns: 100, seed: 20_261 })
    expect(accepted).toBeGreaterThan(400)
  })

  test('without yield, withdrawals return exactly the amounts that were added', async () => {
    for (const user of ['ana', 'budi'] as const) {
      const args = [refOf(++refs), actors[user].address, 33_333_333n, false] as const
      await fixture.send('relayer', 'creditLine', 'topUp', args)
    }
    for (const user of ['ana', 'budi'] as const) {
      const args = [33_333_333n, actors[user].address] as const
      await fixture.send(user, 'creditLine', 'withdrawCollateral', args)
    }
    expect(await readAll()).toMatchObject({ collateral: 0n, shares: 0n })
  })

  test('a withdrawal between two numbers of shares burns the larger one', async () => {
    const args = [refOf(++refs), actors.ana.address, 1_000_000n, false] as const
    await fixture.send('relayer', 'creditLine', 'topUp', args)
    await fixture.send('admin', 'creditLine', 'addYield', [500_000n])
    const before = await readAll()
    await fixture.send('ana', 'creditLine', 'withdrawCollateral', [7n, actors.ana.address])
    const exact = 7n * (before.shares + virtualShares)
    const burnt = before.shares - (await readAll()).shares
    expect(exact % (before.collateral + 1n)).not.toBe(0n)
    expect(burnt).toBe(exact / (before.collateral + 1n) + 1n)
  })
})
