import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { parseSignature } from 'viem'
import { actionsOn, ausd } from '#infra/contracts/actions'
import {
  call,
  expectCovered,
  expectTight,
  type Measured,
  measure,
  nobody,
  op,
  show,
} from '#infra/contracts/measure'
import { actors, openStage } from '#infra/contracts/stage'
import { userGasLimits } from '#shared/chain/gas'

// A hold that is over before a term is.
const holdSeconds = 1_000
const stage = await openStage({ holdSeconds })
const { act, read, now, at, until } = actionsOn(stage)
afterAll(stage.close)
beforeEach(stage.checkpoint)
afterEach(stage.rewind)

const ana = actors.ana.address
const { ausd: token, creditLine } = stage.deployment
const many = (ops: readonly ReturnType<typeof op>[]) =>
  stage.send('relayer', 'creditLine', 'many', [ops])

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
    await stage.warp(120)
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
  const approve = (amount: bigint) => stage.send('ana', 'ausd', 'approve', [creditLine, amount])

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
      await stage.checkpoint()
      measured.push(await measure(stage, ana, creditLine, await prepare()))
      await stage.rewind()
    }
    const worst = measured.reduce((most, one) => (one.monad > most.monad ? one : most))
    show(name, worst, userGasLimits[name])
    expectTight(userGasLimits[name], worst)
    expect(userGasLimits[name]).toBeLessThanOrEqual(fixed)
  })

  test('covers a draw from a pool that is short, whatever the caller leaves of the folds', async () => {
    for (const lots of [0, 2, foldsPerCall / 2, foldsPerCall - 1]) {
      await stage.checkpoint()
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
      const measured = await measure(stage, ana, creditLine, call('draw', [free + 1n, nobody]))
      show(`draw, short pool and ${lots} lots`, measured, userGasLimits.draw)
      expectCovered(userGasLimits.draw, measured)
      await stage.rewind()
    }
  })
})

const permitFields = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const
