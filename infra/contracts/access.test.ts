import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { keccak256, toBytes, toFunctionSelector, zeroAddress } from 'viem'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { ausd, creditLine, treasury } = fixture.deployment
const relayer = keccak256(toBytes('RELAYER_ROLE'))
const op = { kind: 0, ref: refOf(5), account: ana, amount: 1n, paidAt: 0n }
const denied = 'AccessControlUnauthorizedAccount'

describe('privileged functions', () => {
  const table = [
    // guard: only the relayer spends the treasury's allowance
    ['creditLine', 'topUp', [refOf(1), ana, 1n, false], ['relayer'], denied],
    ['creditLine', 'repayFor', [refOf(1), ana, 1n, false, 0n], ['relayer'], denied],
    ['creditLine', 'revokeTopUp', [refOf(9), 0n], ['relayer'], denied],
    ['creditLine', 'revokeRepayment', [refOf(7), 0n], ['relayer'], denied],
    ['creditLine', 'extendHold', [refOf(9)], ['relayer'], denied],
    ['creditLine', 'many', [[op]], ['relayer'], denied],
    // guard: an operation of a batch is run only by its batch
    ['creditLine', 'applyOp', [op], [], 'OnlySelf'],
    ['creditLine', 'setVerified', [ana, false], ['verifier'], denied],
    ['creditLine', 'setFrozen', [ana, true], ['verifier'], denied],
    ['creditLine', 'withdrawLiquidity', [1n, ana], ['admin'], denied],
    ['creditLine', 'addYield', [1n], ['admin'], denied],
    ['creditLine', 'pause', [], ['admin'], denied],
    ['creditLine', 'grantRole', [relayer, ana], ['admin'], denied],
    ['creditLine', 'revokeRole', [relayer, ana], ['admin'], denied],
    ['ausd', 'mint', [ana, 1n], ['admin'], denied],
    ['ausd', 'grantRole', [relayer, ana], ['admin'], denied],
  ] as const

  test.each(table)('%s.%s refuses callers without its role', async (contract, name, args, allowed, refusal) => {
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(9), ana, 1_000_000n, true])
    await fixture.send('relayer', 'creditLine', 'repayFor', [refOf(7), ana, 1_000_000n, true, 0n])
    await fixture.warp(5)
    for (const actor of ['admin', 'treasury', 'relayer', 'verifier', 'ana', 'citra'] as const) {
      const isAllowed = (allowed as readonly string[]).includes(actor)
      const answer = await fixture.refusal(actor, contract, name, args as never)
      expect([actor, answer]).toEqual([actor, isAllowed ? 'accepted' : refusal])
    }
  })

  test('only the pauser can unpause', async () => {
    await fixture.send('admin', 'creditLine', 'pause', [])
    expect(await fixture.refusal('ana', 'creditLine', 'unpause', [])).toBe(denied)
    expect(await fixture.refusal('relayer', 'creditLine', 'unpause', [])).toBe(denied)
    await fixture.send('admin', 'creditLine', 'unpause', [])
  })
})

describe('recipients', () => {
  const refused = [
    // guard: users send no AUSD of the line to the treasury
    ['the treasury', treasury],
    ['the token', ausd],
    ['the credit line', creditLine],
    ['the zero address', zeroAddress],
  ] as const

  test.each(refused)('a user can neither draw nor withdraw to %s', async (_name, to) => {
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(1), ana, 100_000_000n, false])
    for (const name of ['draw', 'withdrawCollateral'] as const) {
      const answer = await fixture.refusal('ana', 'creditLine', name, [1n, to])
      expect([name, answer]).toEqual([name, 'InvalidRecipient'])
      const other = await fixture.refusal('ana', 'creditLine', name, [1n, actors.budi.address])
      expect([name, other]).toEqual([name, 'accepted'])
    }
  })

  test.each(refused.slice(1))('the admin cannot withdraw liquidity to %s', async (_name, to) => {
    const answer = await fixture.refusal('admin', 'creditLine', 'withdrawLiquidity', [1n, to])
    expect(answer).toBe('InvalidRecipient')
  })

  test('the admin can withdraw liquidity to the treasury', async () => {
    const args = [1n, treasury] as const
    expect(await fixture.refusal('admin', 'creditLine', 'withdrawLiquidity', args)).toBe('accepted')
  })
})

describe('while paused', () => {
  beforeEach(async () => {
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(8), ana, 100_000_000n, false])
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(9), ana, 1_000_000n, true])
    await fixture.send('ana', 'creditLine', 'draw', [2_000_000n, ana])
    await fixture.send('relayer', 'creditLine', 'repayFor', [refOf(7), ana, 1_000_000n, true, 0n])
    await fixture.warp(5)
    await fixture.send('admin', 'creditLine', 'pause', [])
  })

  test.each([
    ['relayer', 'topUp', [refOf(1), ana, 1n, false], 'EnforcedPause'],
    ['relayer', 'repayFor', [refOf(1), ana, 1n, false, 0n], 'EnforcedPause'],
    ['relayer', 'repayFor', [refOf(1), ana, 1n, true, 0n], 'EnforcedPause'],
    ['relayer', 'revokeTopUp', [refOf(9), 0n], 'accepted'],
    ['relayer', 'revokeRepayment', [refOf(7), 0n], 'accepted'],
    ['relayer', 'extendHold', [refOf(7)], 'accepted'],
    ['relayer', 'extendHold', [refOf(9)], 'accepted'],
    ['ana', 'draw', [1n, ana], 'EnforcedPause'],
    ['ana', 'withdrawCollateral', [1n, ana], 'EnforcedPause'],
    ['citra', 'markDefault', [ana], 'EnforcedPause'],
    ['citra', 'seizeMore', [ana], 'EnforcedPause'],
    ['ana', 'repay', [1n], 'accepted'],
    ['ana', 'repayFromCollateral', [1n], 'accepted'],
    ['admin', 'fundLiquidity', [1n], 'accepted'],
    ['admin', 'withdrawLiquidity', [1n, ana], 'accepted'],
    ['admin', 'addYield', [1n], 'accepted'],
    ['verifier', 'setVerified', [ana, false], 'accepted'],
    ['verifier', 'setFrozen', [ana, true], 'accepted'],
    ['citra', 'accountOf', [ana], 'accepted'],
    ['citra', 'holdOf', [refOf(9)], 'accepted'],
    ['citra', 'sequence', [], 'accepted'],
  ] as const)('during a pause, %s calling %s gets the answer of the table', async (actor, name, args, answer) => {
    expect(await fixture.refusal(actor, 'creditLine', name, args as never)).toBe(answer)
  })

  // guard: nothing is credited while the line is paused
  test('many credits nothing during a pause, but still revokes and extends', async () => {
    const none = { account: ana, amount: 0n, paidAt: 0n }
    const { events } = await fixture.send('relayer', 'creditLine', 'many', [
      [op, { ...op, kind: 4 }, { kind: 6, ref: refOf(9), ...none }, { kind: 5, ref: refOf(7), ...none }],
    ])
    const paused = toFunctionSelector('EnforcedPause()')
    expect(events).toMatchObject([
      { eventName: 'OpFailed', args: { index: 0n, reason: paused } },
      { eventName: 'OpFailed', args: { index: 1n, reason: paused } },
      { eventName: 'HoldExtended', args: { ref: refOf(9) } },
      { eventName: 'RepaymentRevoked', args: { ref: refOf(7), amount: 1_000_000n } },
      { eventName: 'Transfer', args: { value: 1_000_000n } },
    ])
  })
})

describe('verification', () => {
  const set = (verified: boolean) =>
    fixture.send('verifier', 'creditLine', 'setVerified', [actors.citra.address, verified])

  test('setVerified emits one event per change, and can withdraw a verification', async () => {
    expect((await set(true)).events).toMatchObject([
      { eventName: 'VerifiedSet', args: { account: actors.citra.address, verified: true } },
    ])
    expect((await set(true)).events).toEqual([])
    expect((await set(false)).events).toHaveLength(1)
    expect((await fixture.accountOf('citra')).verified).toBe(false)
  })
})
