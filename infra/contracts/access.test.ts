import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { keccak256, toBytes, toFunctionSelector } from 'viem'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const relayer = keccak256(toBytes('RELAYER_ROLE'))
const op = { kind: 0, ref: refOf(5), account: ana, amount: 1n, paidAt: 0n }
const denied = 'AccessControlUnauthorizedAccount'

describe('privileged functions', () => {
  const table = [
    ['creditLine', 'topUp', [refOf(1), ana, 1n, false], ['relayer'], denied],
    ['creditLine', 'repayFor', [refOf(1), ana, 1n, false, 0n], ['relayer'], denied],
    ['creditLine', 'revokeTopUp', [refOf(9)], ['relayer'], denied],
    ['creditLine', 'revokeRepayment', [refOf(7)], ['relayer'], denied],
    ['creditLine', 'extendHold', [refOf(9)], ['relayer'], denied],
    ['creditLine', 'many', [[op]], ['relayer'], denied],
    ['creditLine', 'applyOp', [op], [], 'OnlySelf'],
    ['creditLine', 'setVerified', [ana, false], ['verifier'], denied],
    ['creditLine', 'setFrozen', [ana, true], ['verifier'], denied],
    ['creditLine', 'withdrawLiquidity', [1n, ana], ['admin'], denied],
    ['creditLine', 'pause', [], ['admin'], denied],
    ['creditLine', 'grantRole', [relayer, ana], ['admin'], denied],
    ['creditLine', 'revokeRole', [relayer, ana], ['admin'], denied],
    ['ausd', 'mint', [ana, 1n], ['admin'], denied],
    ['ausd', 'grantRole', [relayer, ana], ['admin'], denied],
  ] as const

  test.each(table)(
    '%s.%s lets in only who it should',
    async (contract, name, args, who, refusal) => {
      await fixture.send('relayer', 'creditLine', 'topUp', [refOf(9), ana, 1_000_000n, true])
      await fixture.send('relayer', 'creditLine', 'repayFor', [refOf(7), ana, 1_000_000n, true, 0n])
      // Later than its block, so that a hold can be put off.
      await fixture.warp(5)
      for (const actor of ['admin', 'treasury', 'relayer', 'verifier', 'ana', 'citra'] as const) {
        const allowed = (who as readonly string[]).includes(actor)
        const answer = await fixture.refusal(actor, contract, name, args as never)
        expect([actor, answer]).toEqual([actor, allowed ? 'accepted' : refusal])
      }
    },
  )

  test('unpause is for the pauser', async () => {
    await fixture.send('admin', 'creditLine', 'pause', [])
    expect(await fixture.refusal('ana', 'creditLine', 'unpause', [])).toBe(denied)
    expect(await fixture.refusal('relayer', 'creditLine', 'unpause', [])).toBe(denied)
    await fixture.send('admin', 'creditLine', 'unpause', [])
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
    ['relayer', 'revokeTopUp', [refOf(9)], 'accepted'],
    ['relayer', 'revokeRepayment', [refOf(7)], 'accepted'],
    ['relayer', 'extendHold', [refOf(7)], 'accepted'],
    ['relayer', 'extendHold', [refOf(9)], 'accepted'],
    ['ana', 'draw', [1n, ana], 'EnforcedPause'],
    ['ana', 'withdrawCollateral', [1n, ana], 'EnforcedPause'],
    ['citra', 'markDefault', [ana], 'EnforcedPause'],
    ['citra', 'seizeMore', [ana, 1n], 'EnforcedPause'],
    ['ana', 'repay', [1n], 'accepted'],
    ['ana', 'repayFromCollateral', [1n], 'accepted'],
    ['citra', 'settleLots', [ana, 1n], 'accepted'],
    ['citra', 'settleLiquidity', [1n], 'accepted'],
    ['admin', 'fundLiquidity', [1n], 'accepted'],
    ['admin', 'withdrawLiquidity', [1n, ana], 'accepted'],
    ['admin', 'addYield', [1n], 'accepted'],
    ['verifier', 'setVerified', [ana, false], 'accepted'],
    ['verifier', 'setFrozen', [ana, true], 'accepted'],
    ['citra', 'accountOf', [ana], 'accepted'],
    ['citra', 'holdOf', [refOf(9)], 'accepted'],
  ] as const)('a call by %s of %s answers as it should', async (actor, name, args, answer) => {
    expect(await fixture.refusal(actor, 'creditLine', name, args as never)).toBe(answer)
  })

  test('many brings nothing in, but still takes back and puts off', async () => {
    const none = { account: ana, amount: 0n, paidAt: 0n }
    const { events } = await fixture.send('relayer', 'creditLine', 'many', [
      [
        op,
        { ...op, kind: 4 },
        { kind: 6, ref: refOf(9), ...none },
        { kind: 5, ref: refOf(7), ...none },
      ],
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

  test('is recorded once per change, and withdrawn the same way', async () => {
    expect((await set(true)).events).toMatchObject([
      { eventName: 'VerifiedSet', args: { account: actors.citra.address, verified: true } },
    ])
    expect((await set(true)).events).toEqual([])
    expect((await set(false)).events).toHaveLength(1)
    expect((await fixture.accountOf('citra')).verified).toBe(false)
  })
})
