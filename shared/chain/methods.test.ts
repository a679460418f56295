import { describe, expect, test } from 'bun:test'
import { encodeFunctionData, encodeFunctionResult, multicall3Abi } from 'viem'
import { multicall3 } from '#shared/chain/client'
import { faultIn, isDoubtful } from '#shared/chain/methods'

const hash = `0x${'ab'.repeat(32)}`
const plain = { number: '0x7', hash, parentHash: hash, timestamp: '0x1' }
const header = { ...plain, baseFeePerGas: '0x174876e800' }
const receipt = { transactionHash: hash, blockHash: hash, blockNumber: '0x7', status: '0x1', logs: [] }
const encode = (results: number) =>
  encodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    result: Array.from({ length: results }, () => ({ success: true, returnData: '0x01' as const })),
  })
const empty = { success: false, returnData: '0x' } as const
const failures = encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [empty, empty] })
const two = {
  to: multicall3,
  data: encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [[1, 2].map(() => ({ target: multicall3, allowFailure: true, callData: '0x01' as const }))],
  }),
}
const filter = { fromBlock: '0x5', toBlock: '0x9' }

describe('an answer that a node of the chain can give', () => {
  test.each<[string, unknown[], unknown]>([
    ['eth_chainId', [], '0x279f'],
    ['eth_getBlockByNumber', ['finalized', false], header],
    ['eth_getBlockByNumber', ['0x07', false], plain],
    ['eth_getBlockByNumber', ['0x8', false], null],
    ['eth_getTransactionCount', ['0x01', 'latest'], '0x0'],
    ['eth_getTransactionReceipt', [hash.toUpperCase().replace('X', 'x')], receipt],
    ['eth_getTransactionReceipt', [hash], null],
    ['eth_getTransactionByHash', [hash], { hash }],
    ['eth_getCode', ['0x01', 'latest'], '0x'],
    ['eth_call', [{ to: '0x01' }, 'latest'], '0x'],
    ['eth_call', [two, 'latest'], encode(2)],
    ['eth_call', [two, 'latest'], failures],
    ['eth_getLogs', [filter], [{ blockNumber: '0x5' }, { blockNumber: '0x9' }]],
    ['eth_getLogs', [filter], []],
    ['eth_sendRawTransaction', ['0x01'], hash],
    ['anvil_mine', [], null],
  ])('%s %p: %p', (method, params, result) => {
    expect(faultIn({ method, params }, result)).toBeUndefined()
  })
})

describe('an answer that none can give', () => {
  test.each<[string, unknown[], unknown]>([
    ['eth_chainId', [], null],
    ['eth_chainId', [], '0x'],
    ['eth_getBlockByNumber', ['finalized', false], {}],
    ['eth_getBlockByNumber', ['latest', false], plain],
    ['eth_getBlockByNumber', ['latest', false], { ...header, baseFeePerGas: null }],
    ['eth_call', [two, 'latest'], encode(1)],
    ['eth_call', [two, 'latest'], encode(2).slice(0, 66 + 64)],
    ['eth_call', [two, 'latest'], `0x${'00'.repeat(32)}`],
    ['eth_call', [two, 'latest'], `0x${'00'.repeat(512)}`],
    ['eth_getBlockByNumber', ['finalized', false], { ...header, hash: null }],
    ['eth_getBlockByNumber', ['0x8', false], header],
    ['eth_getTransactionCount', ['0x01', 'latest'], null],
    ['eth_getTransactionCount', ['0x01', 'latest'], '0x'],
    ['eth_getTransactionReceipt', [hash], { ...receipt, transactionHash: `0x${'cd'.repeat(32)}` }],
    ['eth_getTransactionReceipt', [hash], { ...receipt, blockHash: null }],
    ['eth_getTransactionReceipt', [hash], { ...receipt, status: undefined }],
    ['eth_getTransactionByHash', [hash], {}],
    ['eth_getBalance', ['0x01', 'latest'], '0x'],
    ['eth_getCode', ['0x01', 'latest'], null],
    ['eth_call', [{ to: '0x01' }, 'latest'], null],
    ['eth_call', [{ to: '0x01' }, 'latest'], '0x123'],
    ['eth_getLogs', [filter], null],
    ['eth_getLogs', [filter], [{ blockNumber: '0xa' }]],
    ['eth_getLogs', [filter], [{ blockNumber: '0x4' }]],
    ['eth_getBalance', ['0x01', 'latest'], undefined],
  ])('%s %p: %p', (method, params, result) => {
    expect(faultIn({ method, params }, result)).toBeString()
  })
})

test('a read that returns nothing is doubtful, a simulated transaction that returns nothing is not', () => {
  expect(isDoubtful({ method: 'eth_call', params: [{ to: '0x01' }, 'latest'] }, '0x')).toBe(true)
  expect(isDoubtful({ method: 'eth_call', params: [{ to: '0x01' }, 'latest'] }, '0x00')).toBe(false)
  expect(isDoubtful({ method: 'eth_call', params: [{ from: '0x02', to: '0x01' }, 'latest'] }, '0x')).toBe(false)
})
