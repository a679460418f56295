import { describe, expect, test } from 'bun:test'
import { faultIn, isDoubtful } from '#shared/chain/methods'

const hash = `0x${'ab'.repeat(32)}`
const header = { number: '0x7', hash, parentHash: hash, timestamp: '0x1' }
const receipt = { transactionHash: hash, blockHash: hash, blockNumber: '0x7', status: '0x1', logs: [] }
const filter = { fromBlock: '0x5', toBlock: '0x9' }

describe('an answer that a node of the chain can give', () => {
  test.each<[string, unknown[], unknown]>([
    ['eth_chainId', [], '0x279f'],
    ['eth_getBlockByNumber', ['finalized', false], header],
    ['eth_getBlockByNumber', ['0x07', false], header],
    ['eth_getBlockByNumber', ['0x8', false], null],
    ['eth_getTransactionCount', ['0x01', 'latest'], '0x0'],
    ['eth_getTransactionReceipt', [hash.toUpperCase().replace('X', 'x')], receipt],
    ['eth_getTransactionReceipt', [hash], null],
    ['eth_getTransactionByHash', [hash], { hash }],
    ['eth_getCode', ['0x01', 'latest'], '0x'],
    ['eth_call', [{ to: '0x01' }, 'latest'], '0x'],
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
