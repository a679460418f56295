import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { parseSignature } from 'viem'
import { actors, fixtureTerms, openContractsFixture, refOf } from '#test/support/contracts'

const fixture = await openContractsFixture()
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { ausd, creditLine } = fixture.deployment
const deadline = 2n ** 48n

async function permitOf(value: bigint) {
  const signature = await actors.ana.signTypedData({
    domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: ausd },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: ana, spender: creditLine, value, nonce: 0n, deadline },
  })
  const { r, s, yParity } = parseSignature(signature)
  return [value, deadline, yParity + 27, r, s] as const
}

describe('repaying with a permit', () => {
  beforeEach(async () => {
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(1), ana, 100_000_000n, false])
    await fixture.send('ana', 'creditLine', 'draw', [20_000_000n, ana])
    await fixture.send('ana', 'ausd', 'approve', [creditLine, 0n])
  })
  const repay = async (value: bigint) => fixture.send('ana', 'creditLine', 'repayWithPermit', await permitOf(value))

  test('repayWithPermit needs no earlier allowance', async () => {
    await repay(20_000_000n)
    expect((await fixture.accountOf('ana')).drawn).toBe(0n)
  })

  test('repayWithPermit transfers no more than the debt', async () => {
    const before = await fixture.balanceOf(ana)
    await repay(500_000_000n)
    expect(await fixture.balanceOf(ana)).toBe(before - 20_000_000n)
  })

  test('a permit replaces a larger allowance, which an automatic repayment from the wallet then lacks', async () => {
    await fixture.send('ana', 'ausd', 'approve', [creditLine, 500_000_000n])
    await fixture.send('ana', 'creditLine', 'setAutoRepay', [20_000_000n, false])
    await fixture.warp(fixtureTerms.termSeconds / 2)
    expect(await fixture.refusal('citra', 'creditLine', 'autoRepay', [ana])).toBe('accepted')
    await repay(5_000_000n)
    expect(await fixture.refusal('citra', 'creditLine', 'autoRepay', [ana])).toBe('ERC20InsufficientAllowance')
    await fixture.send('ana', 'ausd', 'approve', [creditLine, 15_000_000n])
    expect(await fixture.refusal('citra', 'creditLine', 'autoRepay', [ana])).toBe('accepted')
  })

  test('security: repayWithPermit succeeds if another account submitted the permit first', async () => {
    const permit = await permitOf(20_000_000n)
    await fixture.send('citra', 'ausd', 'permit', [ana, creditLine, ...permit])
    await fixture.send('ana', 'creditLine', 'repayWithPermit', permit)
    expect((await fixture.accountOf('ana')).drawn).toBe(0n)
  })

  test('security: a permit signed by another account gives no allowance', async () => {
    const permit = await permitOf(20_000_000n)
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(2), actors.budi.address, 100_000_000n, false])
    await fixture.send('budi', 'creditLine', 'draw', [20_000_000n, actors.budi.address])
    await fixture.send('budi', 'ausd', 'approve', [creditLine, 0n])
    expect(await fixture.refusal('budi', 'creditLine', 'repayWithPermit', permit)).toBe('ERC20InsufficientAllowance')
  })
})

describe('the other ways to repay', () => {
  test.each([
    ['repay', [1n], 'NothingOwed'],
    ['repayFromCollateral', [1n], 'NothingOwed'],
    ['repay', [0n], 'ZeroAmount'],
    ['withdrawCollateral', [1n, ana], 'InsufficientCollateral'],
  ] as const)('%s(%p) without debt and collateral reverts with %s', async (name, args, refusal) => {
    expect(await fixture.refusal('ana', 'creditLine', name, args)).toBe(refusal)
  })

  test('repayFromCollateral burns the shares of the debt and closes the cycle', async () => {
    await fixture.send('relayer', 'creditLine', 'topUp', [refOf(1), ana, 100_000_000n, false])
    await fixture.send('ana', 'creditLine', 'draw', [50_000_000n, ana])
    const out = ['withdrawCollateral', [1n, ana]] as const
    expect(await fixture.refusal('ana', 'creditLine', ...out)).toBe('LimitExceeded')
    const { events } = await fixture.send('ana', 'creditLine', 'repayFromCollateral', [60_000_000n])
    expect(events).toMatchObject([
      { eventName: 'CollateralWithdrawn', args: { to: creditLine, amount: 50_000_000n } },
      { eventName: 'Repaid', args: { payer: ana, amount: 50_000_000n, drawnAfter: 0n } },
      { eventName: 'CycleClosed', args: { outcome: 1 } },
    ])
    expect(await fixture.accountOf('ana')).toMatchObject({ drawn: 0n, collateral: 50_000_000n })
    await fixture.send('ana', 'creditLine', 'withdrawCollateral', [50_000_000n, ana])
  })
})
