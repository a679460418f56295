import { describe, expect, test } from 'bun:test'
import { type Abi, encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { opKinds } from '#shared/chain/gas'
import { type FinalTake, type Policy, PolicyRefused, returnNonce, spendsOfCall, spendsOfTransfer } from './policy'

const hex = (byte: string, bytes: number): Hex => `0x${byte.repeat(bytes)}`
const [ausd, creditLine, treasury] = [hex('a5', 20), hex('c1', 20), hex('7e', 20)]
const [wallet, ref] = [hex('aa', 20), hex('01', 32)]
const limit = { most: 100n, day: 1_000n }
const policy: Policy = {
  chainId: 10143,
  ausd,
  creditLine,
  limits: { credit: limit, repay: limit, return: limit, drip: { most: 5n, day: 50n } },
}

const call = (abi: Abi, to: Hex, functionName: string, args: readonly unknown[]) => ({
  to,
  valueWei: 0n,
  data: encodeFunctionData({ abi, functionName, args }),
})
const line = (name: string, ...args: unknown[]) => call(creditLineAbi, creditLine, name, args)
const token = (name: string, ...args: unknown[]) => call(ausdAbi, ausd, name, args)
const coin = (valueWei: bigint, to = wallet) => ({ to, valueWei, data: '0x' as const })
const op = (kind: number, amount: bigint) => ({ kind, ref, account: wallet, amount, paidAt: 0n })
const transfer = [wallet, treasury, 10n ** 30n, 0n, 9n, ref] as const
const move = {
  target: ausd,
  allowFailure: true,
  callData: token('transferWithAuthorization', ...transfer, ref).data,
}
const bundle = (...calls: (typeof move)[]) => call(multicall3Abi, multicall3, 'aggregate3', [calls])
const topUp = (amount: bigint) => line('topUp', ref, wallet, amount, true)

function judged(work: () => ReturnType<typeof spendsOfCall>): string[] | string {
  try {
    return work().map(({ spending, amount }) => `${spending}:${amount}`)
  } catch (error) {
    if (error instanceof PolicyRefused) return error.refusal.by
    throw error
  }
}

const cases = [
  ['a credit', topUp(100n), ['credit:100']],
  ['a credit of too much', topUp(101n), 'limit'],
  ['a repayment', line('repayFor', ref, wallet, 7n, false, 1n), ['repay:7']],
  ['a repayment of too much', line('repayFor', ref, wallet, 101n, true, 1n), 'limit'],
  ['a revoked top-up', line('revokeTopUp', ref, 0n), []],
  ['a revoked repayment', line('revokeRepayment', ref, 0n), []],
  ['a longer hold', line('extendHold', ref), []],
  ['a verdict', line('setVerified', wallet, true), []],
  ['a freeze', line('setFrozen', wallet, true), []],
  ['an automatic repayment', line('autoRepay', wallet), []],
  ['nothing at all', line('many', []), []],
  [
    'several in one',
    line('many', [op(opKinds.topUp, 1n), op(opKinds.heldTopUp, 2n), op(opKinds.heldRepayFor, 3n)]),
    ['credit:1', 'credit:2', 'repay:3'],
  ],
  ['too much among several', line('many', [op(0, 1n), op(opKinds.repayFor, 101n)]), 'limit'],
  ['an unknown one among several', line('many', [op(0, 1n), op(99, 0n)]), 'never'],
  ['another function of the line', line('pause'), 'never'],
  ['a role', line('grantRole', ref, wallet), 'never'],
  ['a borrowing', line('draw', 1n, wallet), 'never'],
  ['native coin for the line', { ...topUp(1n), valueWei: 1n }, 'never'],
  ['a signed transfer of any value', token('transferWithAuthorization', ...transfer, ref), []],
  ['… in its other form', token('transferWithAuthorization', ...transfer, 27, ref, ref), 'never'],
  ['several signed transfers', bundle(move, move), []],
  ['… of which one may stop the others', bundle(move, { ...move, allowFailure: false }), 'never'],
  ['… and a credit', bundle(move, { ...move, target: creditLine, callData: topUp(1n).data }), 'never'],
  ['… and a transfer', bundle({ ...move, callData: token('transfer', wallet, 1n).data }), 'never'],
  ['… and native coin', { ...bundle(move), valueWei: 1n }, 'never'],
  ['… and bytes behind them', { ...bundle(move), data: `${bundle(move).data}00` as Hex }, 'never'],
  ['… none at all', bundle(), []],
  ['another function of Multicall3', call(multicall3Abi, multicall3, 'getCurrentBlockTimestamp', []), 'never'],
  ['a transfer', token('transfer', wallet, 1n), 'never'],
  ['an allowance', token('approve', wallet, 1n), 'never'],
  ['a credit sent to the token', { ...topUp(1n), to: ausd }, 'never'],
  ['a credit sent to any other address', { ...topUp(1n), to: wallet }, 'never'],
  ['a drip', coin(5n), ['drip:5']],
  ['a drip of too much', coin(6n), 'limit'],
  ['a noop', coin(0n), []],
  ['native coin and no call for the line', coin(1n, creditLine), 'never'],
  ['bytes behind a credit', { ...topUp(1n), data: `${topUp(1n).data}00` as Hex }, 'never'],
  ['half a credit', { ...topUp(1n), data: topUp(1n).data.slice(0, -2) as Hex }, 'never'],
] as const
type Answer = ReturnType<typeof judged>

describe('security: the policy of a lane judges', () => {
  // guard: a lane calls only our contracts, and only their functions for it
  test.each(cases)('%s: %#', (_, command, answer) => {
    expect(judged(() => spendsOfCall(policy, 0, command))).toEqual(answer as unknown as Answer)
  })

  test('an operation alike when packed or alone, and one drip per nonce', () => {
    const identityOf = (nonce: number, command: Parameters<typeof spendsOfCall>[2]) =>
      spendsOfCall(policy, nonce, command).map(({ identity }) => identity)
    const packed = line('many', [op(opKinds.heldTopUp, 9n)])
    expect(identityOf(1, packed)).toEqual(identityOf(2, topUp(9n)))
    expect(identityOf(1, topUp(8n))).not.toEqual(identityOf(1, topUp(9n)))
    expect(identityOf(1, coin(1n))).not.toEqual(identityOf(2, coin(1n)))
  })
})

describe('security: the policy of the treasury judges', () => {
  const domain = { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: ausd }
  const times = { validAfter: '0', validBefore: '9' }
  const terms = { from: treasury, to: wallet, value: '100', nonce: ref, ...times }
  test.each([
    ['a return', domain, terms, ['return:100']],
    ['a return of too much', domain, { ...terms, value: '101' }, 'limit'],
    ['what another has', domain, { ...terms, from: wallet }, 'never'],
    ['another token', { ...domain, verifyingContract: creditLine }, terms, 'never'],
    // guard: the treasury signs transfers of AUSD, on our chain, from itself
    ['on another chain', { ...domain, chainId: 1 }, terms, 'never'],
  ] as const)('%s: %#', (_, domain, terms, answer) => {
    const work = () => spendsOfTransfer(policy, treasury, { domain, terms })
    expect(judged(work)).toEqual(answer as unknown as Answer)
  })

  const payoutId = 'p1'
  const back = { ...terms, nonce: returnNonce(payoutId) }
  const moved = { from: wallet, to: treasury, value: '100' }
  const take: FinalTake = { payoutId, moved, ageSeconds: 604_800n }
  test.each([
    ['the whole take', back, take, []],
    ['a part of the take', { ...back, value: '1' }, take, []],
    ['more than the take', back, { ...take, moved: { ...moved, value: '99' } }, ['return:100']],
    ['to another wallet', { ...back, to: creditLine }, take, ['return:100']],
    ['of another cash-out', back, { ...take, payoutId: 'p2' }, ['return:100']],
    ['of a giveback', terms, take, ['return:100']],
    ['not paid to us', back, { ...take, moved: { ...moved, to: ausd } }, ['return:100']],
    ['older than a week', back, { ...take, ageSeconds: 604_801n }, ['return:100']],
    [
      'above the limit of one return',
      { ...back, value: '101' },
      { ...take, moved: { ...moved, value: '101' } },
      'limit',
    ],
  ] as const)('a return against its final take counts as it should: %s', (_, terms, take, answer) => {
    const work = () => spendsOfTransfer(policy, treasury, { domain, terms, take })
    expect(judged(work)).toEqual(answer as unknown as Answer)
  })
})
