import { describe, expect, test } from 'bun:test'
import { type Address, encodeEventTopics, encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { contentHash } from '#platform/content-hash'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { opKinds } from '#shared/chain/gas'
import { refOf } from '#shared/chain/ref'
import { idFor } from '#shared/ids'
import { explain, type Names } from './explain'
import { givebackNonce, namesOf, returnNonce } from './known'
import type { LaneTransaction } from './lane'
import { actionsOf, doneIn, type SentTransaction } from './lane-actions'
import { operationOf } from './operations'

const address = (digit: string) => `0x${digit.repeat(40)}` as Address
const [lane, line, ausd, treasury] = ['1', '2', '3', '4'].map(address) as [Hex, Hex, Hex, Hex]
const [ana, budi] = ['a', 'b'].map(address) as [Hex, Hex]
const contracts = { ausd, creditLine: line }
const topup = `pay_${'t'.repeat(22)}`
const settlement = `pay_${'s'.repeat(22)}`
const payoutId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const used: Hex = `0x${'9'.repeat(64)}`

const came = `${used}:3`
const unused: Hex = `0x${'8'.repeat(64)}`

const names: Names = {
  refs: new Map([...namesOf(topup, 0, ana, 'topup'), ...namesOf(settlement, 0, ana, 'settlement')]),
  takes: new Map([[`${ana}:${used}`, payoutId]]),
  returns: new Map([[returnNonce(payoutId), { payoutId, wallet: ana, ausdMicro: 5n }]]),
  givebacks: new Map([[givebackNonce(came), { name: came, wallet: ana, ausdMicro: 5n, payload: { ausd: '5' } }]]),
  asked: new Set([ana]),
  dripped: new Set<string>(),
  frozen: new Set<string>(),
  verified: new Set<string>(),
  bus: {
    since: new Date(0),
    checkouts: new Map(),
    orders: new Map(),
    takes: new Map(),
    takenMinor: new Map(),
    returns: new Map(),
    verifies: [],
    freezes: [],
    drips: [],
    erased: new Map(),
  },
}

const call = (functionName: string, args: unknown[]): Partial<SentTransaction> => ({
  to: line,
  data: encodeFunctionData({ abi: creditLineAbi, functionName, args } as never),
})
const transfer = (from: Hex, to: Hex, value: bigint, nonce: Hex): Partial<SentTransaction> => ({
  to: ausd,
  data: encodeFunctionData({
    abi: ausdAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, 0n, 99n, nonce, '0x12'],
  }),
})
const op = (kind: number, id: string, account: Hex) => ({
  kind,
  ref: refOf(id),
  account,
  amount: 7n,
  paidAt: 0n,
})

type Logs = Parameters<typeof doneIn>[1]['logs']

/** Builds a multicall. Each of its calls is a call of the token unless stated otherwise. */
const bundle = (transfers: readonly Partial<SentTransaction>[], allowFailure = true): Partial<SentTransaction> => ({
  to: multicall3,
  data: encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [transfers.map(({ to, data }) => ({ target: to!, allowFailure, callData: data! }))],
  }),
})

const usedLog = (authorizer: Hex, nonce: Hex) =>
  ({
    address: ausd,
    data: '0x',
    logIndex: 0,
    blockNumber: 1n,
    blockHash: used,
    transactionHash: used,
    transactionIndex: 0,
    removed: false,
    topics: encodeEventTopics({
      abi: ausdAbi,
      eventName: 'AuthorizationUsed',
      args: { authorizer, nonce },
    }),
  }) as unknown as Logs[number]

function sent(words: Partial<SentTransaction>, reverted = false, logs: Logs = []): LaneTransaction {
  const whole: SentTransaction = { from: lane, to: line, data: '0x', valueWei: 0n, ...words }
  const actions = actionsOf(whole, contracts)
  const done = doneIn(actions ?? [], { to: whole.to, reverted, logs }, contracts)
  return {
    lane,
    nonce: 7,
    hash: used,
    blockNumber: 1n,
    blockHash: used,
    reverted,
    to: whole.to,
    data: whole.data,
    valueWei: whole.valueWei,
    paidWei: 1n,
    actions: actions?.map((action, position) => ({ ...action, done: done[position]! })),
  }
}

describe('explain finds the reason for', () => {
  test.each([
    ['a credit of a payment in the rows', call('topUp', [refOf(topup), ana, 7n, false]), []],
    ['a credit under a further ref', call('topUp', [refOf(`${topup}.1`), ana, 7n, true]), []],
    ['a credit of an unknown payment', call('topUp', [refOf('x'), ana, 7n, false]), ['credit']],
    ['a credit to another wallet', call('topUp', [refOf(topup), budi, 7n, false]), ['credit']],
    ['a repayment', call('repayFor', [refOf(settlement), ana, 7n, false, 5n]), []],
    ['a revocation in part', call('revokeTopUp', [refOf(topup), 5n]), []],
    ['a revocation', call('revokeTopUp', [refOf(topup), 0n]), []],
    ['a revocation of nothing', call('revokeRepayment', [refOf('x'), 0n]), ['revoke']],
    [
      'a batch with one unknown operation',
      call('many', [[op(opKinds.topUp, topup, ana), op(opKinds.topUp, 'x', ana)]]),
      ['credit'],
    ],
    ['a verified flag of a user with a verdict', call('setVerified', [ana, true]), []],
    ['a verified flag without a verdict', call('setVerified', [budi, true]), ['verify']],
    ['a freeze without an order', call('setFrozen', [ana, true]), ['freeze']],
    ['an automatic repayment', call('autoRepay', [ana]), []],
    ['a take of a cash-out', transfer(ana, treasury, 5n, used), []],
    ['a take of no cash-out', transfer(budi, treasury, 5n, used), ['move']],
    ['a return', transfer(treasury, ana, 5n, returnNonce(payoutId)), []],
    ['a return of more', transfer(treasury, ana, 6n, returnNonce(payoutId)), ['move']],
    ['a return to another wallet', transfer(treasury, budi, 5n, returnNonce(payoutId)), ['move']],
    ['a giveback', transfer(treasury, ana, 5n, givebackNonce(came)), []],
    ['a giveback of more', transfer(treasury, ana, 6n, givebackNonce(came)), ['move']],
    ['a giveback to another wallet', transfer(treasury, budi, 5n, givebackNonce(came)), ['move']],
    ['a transfer out of the treasury', transfer(treasury, budi, 5n, used), ['move']],
    ['a send', transfer(budi, ana, 5n, used), []],
    ['native coin for a user with a verdict', { to: ana, valueWei: 9n }, []],
    ['native coin for an unknown wallet', { to: budi, valueWei: 9n }, ['pay']],
    ['a noop', { to: lane }, []],
    ['a call of another contract', { to: budi, data: '0x12345678' }, ['nothing']],
    ['a role that was granted', call('pause', []), ['nothing']],
  ] as [string, Partial<SentTransaction>, string[]][])(
    'explain finds whether there is a reason for %s',
    (_, words, unexplained) => {
      const found = explain(sent(words), names, treasury)
      expect(found.filter((one) => one.unexplained).map(({ action }) => action.does)).toEqual(unexplained as never[])
    },
  )

  test('explain needs no reason for a reverted transaction', () => {
    for (const words of [call('pause', []), call('topUp', [refOf('x'), ana, 7n, false])])
      expect(explain(sent(words, true), names, treasury).some((one) => one.unexplained)).toBe(false)
  })
})

describe('explain, for several transfers in one transaction,', () => {
  const [taken, left] = [transfer(ana, treasury, 5n, used), transfer(budi, treasury, 5n, unused)]

  test('explain counts those of several transfers whose authorization the token used, and the others need no reason', () => {
    const transaction = sent(bundle([taken, left]), false, [usedLog(ana, used)])
    expect(transaction.actions?.map(({ done }) => done)).toEqual([true, false])
    expect(explain(transaction, names, treasury).some((one) => one.unexplained)).toBe(false)
  })

  test.each([
    ['one transfer can stop the others', bundle([taken, left], false)],
    ['one call is not a transfer', bundle([taken, call('topUp', [refOf(topup), ana, 7n, false])])],
  ])('explain counts none of several transfers when %s', (_, words) => {
    expect(sent(words).actions).toBeUndefined()
  })
})

describe('native coin for a wallet that has had its first', () => {
  const given = sent({ to: budi, valueWei: 9n })
  const known = { ...names, dripped: new Set<string>([budi]) }

  test('is explained as a refill', () => {
    expect(explain(given, known, treasury).map(({ unexplained }) => unexplained)).toEqual([false])
  })

  test('is the refill that was ordered last, so that the same order does nothing again', () => {
    const drips = ['10', '11-last'].map((asked) => ({ wallet: budi, refill: '2026-11-28', asked }))
    const ordered = { ...known, bus: { ...names.bus, drips: [{ wallet: budi }, ...drips, { wallet: ana }] } }
    expect(operationOf(given.actions![0]!, ordered, treasury)).toMatchObject({
      id: idFor('operation', `drip:${budi}:2026-11-28:11-last`),
      cause: `${budi}:2026-11-28:11-last`,
      contentHash: contentHash(drips[1]!),
    })
  })

  test('has no operation if NATS has lost its order', () => {
    expect(operationOf(given.actions![0]!, known, treasury)).toBeUndefined()
  })
})

test('operationOf recognises the order of every kind of transaction', () => {
  const operations = [
    call('topUp', [refOf(`${topup}.1`), ana, 7n, true]),
    call('revokeTopUp', [refOf(topup), 0n]),
    call('revokeRepayment', [refOf(settlement), 5n]),
    transfer(ana, treasury, 5n, used),
    transfer(treasury, ana, 5n, returnNonce(payoutId)),
    transfer(treasury, ana, 5n, givebackNonce(came)),
    { to: ana, valueWei: 9n },
    call('extendHold', [refOf(topup)]),
  ].map((words) => operationOf(sent(words).actions![0]!, names, treasury))
  expect(operations.map((one) => one && `${one.kind} ${one.cause}`)).toEqual([
    `credit ${topup}.1`,
    `revoke ${topup}`,
    `revoke ${settlement}:5`,
    `take ${payoutId}`,
    `return ${payoutId}`,
    `giveback ${came}`,
    `drip ${ana}`,
    undefined,
  ])
})
