import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { decodeErrorResult } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { holdEnd } from '#test/support/contract-actions'
import { actors, contractsAbi, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const budi = actors.budi.address
const { creditLine, treasury } = fixture.deployment
const zeroRef = refOf(0)

const read = (functionName: 'refUsed' | 'holdOf', ref: number) =>
  fixture.client.readContract({
    abi: creditLineAbi,
    address: creditLine,
    functionName,
    args: [refOf(ref)],
  })
const topUp = (ref: number, amountMicro = 100_000_000n, held = false, account = ana) =>
  fixture.send('relayer', 'creditLine', 'topUp', [refOf(ref), account, amountMicro, held])
const revoke = (ref: number) => fixture.send('relayer', 'creditLine', 'revokeTopUp', [refOf(ref), 0n])
/** Moves past every hold, whose end is rounded up. */
const pastHolds = () => fixture.warp(64)
const named = (sent: Awaited<ReturnType<typeof topUp>>) => sent.events.map((one) => one.eventName)

describe('a top-up', () => {
  test('a top-up moves treasury AUSD into collateral and counts at once', async () => {
    const sent = await topUp(1)
    expect(sent.events).toMatchObject([
      {
        eventName: 'CollateralAdded',
        args: { ref: refOf(1), account: ana, amount: 100_000_000n, heldUntil: 0n },
      },
      { eventName: 'Transfer', args: { from: treasury, to: creditLine, value: 100_000_000n } },
    ])
    expect(await fixture.accountOf('ana')).toMatchObject({
      collateral: 100_000_000n,
      limit: 50_000_000n,
      pendingShares: 0n,
      pendingUntil: 0n,
    })
  })

  // guard: a ref is applied once
  test('a top-up repeated with the same content emits AlreadyApplied and changes nothing', async () => {
    await topUp(1)
    const before = await fixture.accountOf('ana')
    expect(named(await topUp(1))).toEqual(['AlreadyApplied'])
    expect(await fixture.accountOf('ana')).toEqual(before)
  })

  test('refUsed returns the hash of the content that was applied', async () => {
    expect(await read('refUsed', 1)).toBe(zeroRef)
    await topUp(1, 5_000_000n, true)
    const content = await fixture.client.readContract({
      abi: creditLineAbi,
      address: creditLine,
      functionName: 'contentOf',
      args: [1, ana, 5_000_000n, 0n],
    })
    expect(await read('refUsed', 1)).toBe(content)
  })

  test.each([
    // guard: a ref with different content is refused
    ['another amount', 'topUp', [refOf(1), ana, 100_000_001n, false], 'RefConflict'],
    ['another account', 'topUp', [refOf(1), budi, 100_000_000n, false], 'RefConflict'],
    ['a hold', 'topUp', [refOf(1), ana, 100_000_000n, true], 'RefConflict'],
    ['another kind', 'repayFor', [refOf(1), ana, 100_000_000n, false, 0n], 'RefConflict'],
    ['the ref zero', 'topUp', [zeroRef, ana, 1n, false], 'ZeroRef'],
    ['the zero account', 'topUp', [refOf(2), `0x${'0'.repeat(40)}`, 1n, false], 'ZeroAddress'],
    ['the amount zero', 'topUp', [refOf(2), ana, 0n, false], 'ZeroAmount'],
    ['more than the treasury has', 'topUp', [refOf(2), ana, 10n ** 15n, false], 'ERC20InsufficientBalance'],
  ] as const)('a relayed payment with %s is refused', async (_case, name, args, refusal) => {
    await topUp(1)
    expect(await fixture.refusal('relayer', 'creditLine', name, args)).toBe(refusal)
  })
})

describe('a held top-up', () => {
  // guard: held collateral counts only after its hold
  test('a held top-up is pending until its end, then counts in views and calls without a transaction', async () => {
    await topUp(1, 100_000_000n, true)
    const held = await fixture.accountOf('ana')
    expect(held).toMatchObject({ collateral: 0n, limit: 0n, pendingShares: 100_000_000_000_000n })
    const block = await fixture.client.getBlock()
    expect(held.pendingUntil).toBe(holdEnd(block.timestamp, 60n))
    expect(await fixture.refusal('ana', 'creditLine', 'draw', [1n, ana])).toBe('LimitExceeded')
    await fixture.client.setNextBlockTimestamp({ timestamp: held.pendingUntil - 1n })
    await fixture.client.mine({ blocks: 1 })
    expect(await fixture.accountOf('ana')).toEqual(held)
    await pastHolds()
    expect(await fixture.accountOf('ana')).toMatchObject({
      collateral: 100_000_000n,
      pendingShares: 0n,
      pendingUntil: 0n,
    })
    await fixture.send('ana', 'creditLine', 'draw', [50_000_000n, ana])
    expect(await read('holdOf', 1)).toMatchObject([ana, 0n, 100_000_000n, 100_000_000_000_000n, held.pendingUntil, 2])
  })

  test('a held top-up can be revoked: its amount returns to the treasury and no share is left', async () => {
    await topUp(1, 30_000_000n, true)
    await topUp(2, 70_000_000n, true)
    const before = await fixture.balanceOf(treasury)
    expect((await revoke(1)).events).toMatchObject([
      { eventName: 'TopUpRevoked', args: { ref: refOf(1), account: ana, amount: 30_000_000n } },
      { eventName: 'Transfer', args: { from: creditLine, to: treasury, value: 30_000_000n } },
    ])
    expect(await fixture.balanceOf(treasury)).toBe(before + 30_000_000n)
    await pastHolds()
    expect((await fixture.accountOf('ana')).collateral).toBe(70_000_000n)
    await fixture.send('ana', 'creditLine', 'withdrawCollateral', [70_000_000n, ana])
    expect((await fixture.accountOf('ana')).shares).toBe(0n)
  })

  test('revoking a top-up a second time emits only AlreadyApplied', async () => {
    await topUp(1, 30_000_000n, true)
    await revoke(1)
    expect(named(await revoke(1))).toEqual(['AlreadyApplied'])
    expect((await fixture.accountOf('ana')).pendingUntil).toBe(0n)
  })

  // guard: an amount of a payment is revoked once
  test('revoking a top-up a second time takes nothing of another held top-up', async () => {
    await topUp(1, 30_000_000n, true)
    await topUp(2, 30_000_000n, true)
    await revoke(1)
    const { pendingShares } = await fixture.accountOf('ana')
    expect(pendingShares).toBeGreaterThan(0n)
    expect(named(await revoke(1))).toEqual(['AlreadyApplied'])
    expect((await fixture.accountOf('ana')).pendingShares).toBe(pendingShares)
  })

  test('the ref of a revoked top-up stays used', async () => {
    await topUp(1, 30_000_000n, true)
    await revoke(1)
    expect(named(await topUp(1, 30_000_000n, true))).toEqual(['AlreadyApplied'])
    expect((await fixture.accountOf('ana')).pendingShares).toBe(0n)
  })

  // guard: nothing is revoked after its hold
  test('a top-up cannot be revoked once its hold ended or if it was never held', async () => {
    await topUp(1, 30_000_000n, true)
    await topUp(2)
    await pastHolds()
    const refusal = (ref: number) => fixture.refusal('relayer', 'creditLine', 'revokeTopUp', [refOf(ref), 0n])
    for (const ref of [1, 2, 3]) expect(await refusal(ref)).toBe('NotHeld')
    await fixture.send('ana', 'creditLine', 'withdrawCollateral', [1n, ana])
    expect(await refusal(1)).toBe('NotHeld')
  })
})

describe('a relayed repayment', () => {
  const repayFor = (ref: number) =>
    fixture.send('relayer', 'creditLine', 'repayFor', [refOf(ref), ana, 45_000_000n, false, 0n])

  test('repayFor repays the debt and adds the excess to the collateral at once', async () => {
    await topUp(1)
    await fixture.send('ana', 'creditLine', 'draw', [40_000_000n, ana])
    const sent = await repayFor(2)
    expect(sent.events).toMatchObject([
      {
        eventName: 'Repaid',
        args: { ref: refOf(2), account: ana, payer: treasury, amount: 40_000_000n, drawnAfter: 0n },
      },
      { eventName: 'CycleClosed', args: { number: 1n } },
      { eventName: 'CollateralAdded', args: { ref: refOf(2), amount: 5_000_000n, heldUntil: 0n } },
      { eventName: 'Transfer', args: { from: treasury, to: creditLine, value: 45_000_000n } },
    ])
    expect(await fixture.accountOf('ana')).toMatchObject({ drawn: 0n, collateral: 105_000_000n })
  })

  test('repayFor without a debt is a top-up, and repeating it emits only AlreadyApplied', async () => {
    expect(named(await repayFor(1))).toEqual(['CollateralAdded', 'Transfer'])
    expect(named(await repayFor(1))).toEqual(['AlreadyApplied'])
  })
})

describe('many', () => {
  const op = (kind: number, ref: number, amount: bigint, account = ana) => ({
    kind,
    ref: refOf(ref),
    account,
    amount,
    paidAt: 0n,
  })

  test('many runs the operations in order and reports failed ones without undoing the rest', async () => {
    await topUp(9)
    const sent = await fixture.send('relayer', 'creditLine', 'many', [
      [
        op(0, 1, 10_000_000n),
        op(1, 2, 20_000_000n),
        op(0, 9, 1n),
        op(2, 3, 5_000_000n, budi),
        op(7, 4, 1n),
        op(3, 2, 0n),
        op(0, 1, 10_000_000n),
      ],
    ])
    const failed = sent.events.filter((one) => one.eventName === 'OpFailed')
    expect(
      failed.map(({ args }) => [
        args.index,
        args.ref,
        decodeErrorResult({ abi: contractsAbi, data: args.reason }).errorName,
      ]),
    ).toEqual([
      [2n, refOf(9), 'RefConflict'],
      [4n, refOf(4), 'UnknownKind'],
    ])
    expect(named(sent).filter((name) => name === 'AlreadyApplied')).toHaveLength(1)
    expect(await fixture.accountOf('ana')).toMatchObject({
      collateral: 110_000_000n,
      pendingShares: 0n,
    })
    expect((await fixture.accountOf('budi')).collateral).toBe(5_000_000n)
    expect(await read('refUsed', 4)).toBe(zeroRef)
  })

  test('many extends, revokes and repeats held payments, and reports what is refused', async () => {
    await topUp(1)
    await fixture.send('ana', 'creditLine', 'draw', [40_000_000n, ana])
    await fixture.send('relayer', 'creditLine', 'many', [[op(4, 2, 45_000_000n), op(1, 3, 7_000_000n)]])
    expect(await fixture.accountOf('ana')).toMatchObject({
      drawn: 0n,
      encumbered: 40_000_000n,
      pendingShares: 12_000_000_000_000n,
    })
    await fixture.warp(5)
    const { events } = await fixture.send('relayer', 'creditLine', 'many', [
      [
        op(6, 2, 0n),
        op(6, 3, 0n),
        op(6, 1, 0n),
        op(3, 2, 0n),
        op(5, 3, 0n),
        op(4, 2, 45_000_000n),
        { ...op(4, 2, 45_000_000n), paidAt: 1n },
        op(5, 2, 0n),
        op(5, 2, 0n),
        op(3, 3, 0n),
      ],
    ])
    const names = events.map((one) =>
      one.eventName === 'OpFailed'
        ? decodeErrorResult({ abi: contractsAbi, data: one.args.reason }).errorName
        : one.eventName,
    )
    expect(names).toEqual([
      'HoldExtended',
      'HoldExtended',
      'NotHeld',
      'NotHeld',
      'NotHeld',
      'AlreadyApplied',
      'RefConflict',
      'CycleReversed',
      'CycleOpened',
      'RepaymentRevoked',
      'TopUpRevoked',
      'Transfer',
      'AlreadyApplied',
      'TopUpRevoked',
      'Transfer',
    ])
    expect(await fixture.accountOf('ana')).toMatchObject({
      drawn: 40_000_000n,
      encumbered: 0n,
      pendingShares: 0n,
      collateral: 100_000_000n,
    })
  })

  // guard: a batch that runs out of gas reports no operation as failed
  test('many reverts as a whole when gas is short, and never reports a valid operation as failed', async () => {
    const ops = [1, 2, 3, 4].map((ref) => op(1, ref, 1_000_000n))
    for (const gas of [310_000n, 380_000n, 450_000n, 520_000n]) {
      const attempt = fixture.client.simulateContract({
        account: actors.relayer.address,
        address: creditLine,
        abi: creditLineAbi,
        functionName: 'many',
        args: [ops],
        gas,
      })
      await expect(attempt).rejects.toThrow('GasTooLow')
    }
  })
})
