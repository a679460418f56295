import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Address, parseSignature } from 'viem'
import { userGasLimits } from '#shared/chain/gas'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'
import { call, expectCovered, expectTight, gasOn, type Measured, op, show } from '#test/support/gas'

const holdSeconds = 1_000
const fixture = await openContractsFixture({ holdSeconds })
const { act, read, now, at, until } = actionsOn(fixture)
const { measure, many } = gasOn(fixture)
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const ana = actors.ana.address
const { ausd: token, creditLine } = fixture.deployment
/** A wallet that no token was ever sent to: its balance is a fresh slot. */
const nobody: Address = '0x00000000000000000000000000000000000000aa'

const permitFields = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const

describe('the gas limit that apps send', () => {
  /** What apps sent since the first version of the contract. */
  const fixed = 400_000n
  const foldsPerCall = 12

  /** Ana's holds are matured behind one that was put off: folding marks each of them. */
  async function holds(lots: number, repayments: number) {
    const start = await now()
    await at(start + 1n)
    await many([
      ...Array.from({ length: lots }, (_, at) => op('heldTopUp', 100 + at, ana, ausd('10'))),
      ...Array.from({ length: repayments }, (_, at) =>
        op('heldRepayFor', 200 + at, ana, ausd('1')),
      ),
    ])
    await until(start + BigInt(holdSeconds) - 50n)
    if (lots > 0) await act('extendHold', 100)
    if (repayments > 0) await act('extendHold', 200)
    await until(start + BigInt(holdSeconds) + 50n)
  }
  const owe = async () => {
    await act('topUp', 1, ausd('1000'))
    await act('draw', ausd('50'))
    await fixture.warp(120)
  }
  /** As many as are ever folded, or a few repayments that the cycle being closed waits for. */
  const splits = [
    [foldsPerCall + 1, 0],
    [foldsPerCall - 1, 1],
    [foldsPerCall / 2, foldsPerCall / 2],
    [1, foldsPerCall - 1],
  ] as const

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

  /** Everything that can make each of them dear. */
  const cases = {
    draw: splits.slice(0, 1).map(([lots]) => async () => {
      await holds(lots, 0)
      await act('topUp', 1, ausd('100'))
      return call('draw', [ausd('5'), nobody])
    }),
    withdrawCollateral: splits.map(([lots, repayments]) => async () => {
      await owe()
      await holds(lots, repayments)
      await act('repay', ausd('50'))
      return call('withdrawCollateral', [ausd('5'), nobody])
    }),
    repay: splits.map(([lots, repayments]) => async () => {
      await owe()
      await holds(lots, repayments)
      await approve(ausd('60'))
      return call('repay', [ausd('60')])
    }),
    repayWithPermit: splits.map(([lots, repayments]) => async () => {
      await owe()
      await holds(lots, repayments)
      await approve(0n)
      return call('repayWithPermit', await permit(ausd('60')))
    }),
    repayFromCollateral: splits.map(([lots, repayments]) => async () => {
      await owe()
      await holds(lots, repayments)
      return call('repayFromCollateral', [ausd('60')])
    }),
  } as const

  test.each(Object.keys(cases) as (keyof typeof cases)[])('covers %s', async (name) => {
    const measured: Measured[] = []
    for (const prepare of cases[name]) {
      await fixture.checkpoint()
      measured.push(await measure(ana, creditLine, await prepare()))
      await fixture.rewind()
    }
    const worst = measured.reduce((most, one) => (one.monad > most.monad ? one : most))
    show(name, worst, userGasLimits[name])
    expectTight(userGasLimits[name], worst)
    expect(userGasLimits[name]).toBeLessThanOrEqual(fixed)
  })

  test('covers a draw from a pool that is short, whatever the caller leaves of the folds', async () => {
    for (const lots of [0, 2, foldsPerCall / 2, foldsPerCall - 1]) {
      await fixture.checkpoint()
      await act('topUp', 2, ausd('1000'), false, 'budi')
      await act('draw', ausd('100'), 'budi')
      await act('topUp', 1, ausd('500000'))
      const start = await now()
      await many([
        ...Array.from({ length: lots }, (_, at) => op('heldTopUp', 100 + at, ana, ausd('10'))),
        ...Array.from({ length: foldsPerCall }, (_, at) =>
          op('heldRepayFor', 300 + at, actors.budi.address, ausd('1')),
        ),
      ])
      const free = await read('liquidity')
      await until(start + BigInt(holdSeconds) - 50n)
      if (lots > 0) await act('extendHold', 100)
      await until(start + BigInt(holdSeconds) + 50n)
      // One unit more than is there without folding.
      const measured = await measure(ana, creditLine, call('draw', [free + 1n, nobody]))
      show(`draw, short pool and ${lots} lots`, measured, userGasLimits.draw)
      expectCovered(userGasLimits.draw, measured)
      await fixture.rewind()
    }
  })
})
