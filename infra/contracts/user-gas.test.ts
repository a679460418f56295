import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Address, parseSignature } from 'viem'
import { gasLimits, userGasLimits } from '#shared/chain/gas'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'
import { call, expectCovered, expectTight, gasOn, op, show } from '#test/support/gas'

const holdSeconds = 1_000
const termSeconds = 100_000
const fixture = await openContractsFixture({ holdSeconds, termSeconds })
const { act, read, now, at } = actionsOn(fixture)
const { measure, many } = gasOn(fixture)
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { ausd: token, creditLine } = fixture.deployment
/** Address that never received the token, so its balance is a new slot. */
const nobody: Address = '0x00000000000000000000000000000000000000aa'

const permitFields = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const

describe('the gas limits of users', () => {
  const fixed = 400_000n
  const step = 67n

  /** Fills all sixteen buckets of Ana and of the pool, which the next call folds. */
  async function fillBuckets() {
    await act('topUp', 2, ausd('1000'), false, 'budi')
    await act('draw', ausd('100'), 'budi')
    const start = (await now()) + 1n
    for (let bucket = 0; bucket < 16; bucket++) {
      await at(start + BigInt(bucket) * step)
      await many([
        op('heldTopUp', 100 + bucket, ana, ausd('10')),
        op('heldRepayFor', 200 + bucket, actors.budi.address, ausd('1')),
      ])
    }
    await fixture.warp(2 * holdSeconds)
  }
  const owe = async () => {
    await act('topUp', 1, ausd('1000'))
    await act('draw', ausd('50'))
    await fixture.warp(120)
  }
  const holdPart = () => act('repayFor', 300, ausd('1'))

  const permit = async (value: bigint) => {
    const deadline = 2n ** 48n
    const signature = await actors.ana.signTypedData({
      domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: token },
      types: { Permit: permitFields },
      primaryType: 'Permit',
      message: { owner: ana, spender: creditLine, value, nonce: 0n, deadline },
    })
    const { r, s, yParity } = parseSignature(signature)
    return [value, deadline, yParity + 27, r, s] as const
  }
  const approve = (amount: bigint) => fixture.send('ana', 'ausd', 'approve', [creditLine, amount])

  const cases = {
    // This draw is the first of the account and of the whole pool, to a new wallet.
    draw: async () => {
      await fillBuckets()
      await act('topUp', 1, ausd('500000'))
      return call('draw', [await read('liquidity'), nobody])
    },
    withdrawCollateral: async () => {
      await owe()
      await fillBuckets()
      await act('repay', ausd('50'))
      return call('withdrawCollateral', [ausd('5'), nobody])
    },
    repay: async () => {
      await owe()
      await holdPart()
      await approve(ausd('60'))
      return call('repay', [ausd('60')])
    },
    repayWithPermit: async () => {
      await owe()
      await holdPart()
      await approve(0n)
      return call('repayWithPermit', await permit(ausd('60')))
    },
    repayFromCollateral: async () => {
      await owe()
      await fillBuckets()
      await holdPart()
      return call('repayFromCollateral', [ausd('60')])
    },
  } as const

  test.each(Object.keys(cases) as (keyof typeof cases)[])(
    'the limit of %s covers its dearest state and is tight',
    async (name) => {
      const data = await cases[name]()
      const measured = await measure(ana, creditLine, data, name === 'repayWithPermit' ? 1 : 0)
      show(name, measured, userGasLimits[name])
      expectTight(userGasLimits[name], measured)
      expect(userGasLimits[name]).toBeLessThanOrEqual(fixed)
    },
  )

  test.each([
    ['setAutoRepay', creditLine, [ausd('60'), true]],
    ['approve', token, [creditLine, ausd('60')]],
  ] as const)('the limit of %s covers the first call of a new account and is tight', async (name, to, args) => {
    const measured = await measure(actors.citra.address, to, call(name, args))
    show(name, measured, userGasLimits[name])
    expectTight(userGasLimits[name], measured)
    expect(userGasLimits[name]).toBeLessThanOrEqual(fixed)
  })

  const autoRepaid = async (fromCollateral: boolean) => {
    await owe()
    if (fromCollateral) await fillBuckets()
    else await approve(ausd('60'))
    await act('setAutoRepay', ausd('60'), fromCollateral)
    await fixture.warp(termSeconds / 2)
    await holdPart()
    const measured = await measure(actors.relayer.address, creditLine, call('autoRepay', [ana]))
    show(`autoRepay from ${fromCollateral ? 'collateral' : 'the wallet'}`, measured, gasLimits.autoRepay)
    expect((await fixture.accountOf('ana')).drawn).toBe(0n)
    return measured
  }

  test('the limit of autoRepay covers its dearest state, from collateral, and is tight', async () => {
    expectTight(gasLimits.autoRepay, await autoRepaid(true))
  })

  test('the limit of autoRepay covers a repayment from the wallet', async () => {
    expectCovered(gasLimits.autoRepay, await autoRepaid(false))
  })

  /** Frees holds. Ana's limit exceeds the pool; she owes 300 AUSD less her repayments. */
  async function release(count: number) {
    await act('topUp', 1, ausd('500000'))
    await act('topUp', 2, ausd('1000'), false, 'budi')
    await act('draw', ausd('300'))
    await act('draw', ausd('300'), 'budi')
    for (let first = 0; first < count; first += 20) {
      const ops = Array.from({ length: 20 }, (_, index) => [
        op('heldTopUp', 1_000 + first + index, ana, ausd('1')),
        op('heldRepayFor', 2_000 + first + index, ana, ausd('1')),
        op('heldRepayFor', 3_000 + first + index, actors.budi.address, ausd('1')),
      ])
      await many(ops.flat())
      await fixture.warp(Number(step))
    }
    await fixture.warp(2 * holdSeconds)
  }
  const amounts = {
    draw: async () => (await fixture.accountOf('ana')).available,
    withdrawCollateral: async () => ausd('1000'),
    repayFromCollateral: async () => (await fixture.accountOf('ana')).drawn,
  }

  test.each([20, 200])('%d released payments of each kind are used in one call', async (count) => {
    await release(count)
    expect((await fixture.accountOf('ana')).available).toBe(await read('liquidity'))
    for (const name of ['draw', 'withdrawCollateral', 'repayFromCollateral'] as const) {
      await fixture.checkpoint()
      const amount = await amounts[name]()
      const data = call(name, name === 'repayFromCollateral' ? [amount] : [amount, nobody])
      const measured = await measure(ana, creditLine, data)
      show(`${name} after ${count} payments`, measured, userGasLimits[name])
      expectCovered(userGasLimits[name], measured)
      const { encumbered, drawn } = await fixture.accountOf('ana')
      expect(encumbered).toBe(0n)
      if (name === 'draw') expect(await read('liquidity')).toBe(0n)
      if (name === 'repayFromCollateral') expect(drawn).toBe(0n)
      await fixture.rewind()
    }
  })
})
