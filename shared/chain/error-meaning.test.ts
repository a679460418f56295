import { describe, expect, test } from 'bun:test'
import { meaningOf } from '#shared/chain/error-meaning'

const byRange = 'eth_getLogs'

describe('an error in the reply to a query of logs means', () => {
  test.each([
    [-32614, 'eth_getLogs is limited to a 100 range', 'range'],
    [-32602, 'block range too large', 'range'],
    [-32005, 'query returned more than 10000 results', 'range'],
    [-32000, 'Log response size exceeded', 'range'],
    [-32603, 'request failed or timed out', 'range'],
    [-32600, 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range', 'range'],
    [-32000, 'failed to get logs for block #26498859', 'fault'],
    [-32029, 'Quota is used up', 'rate'],
    [-32005, 'limit exceeded', 'limit'],
    [-32602, 'Block requested not found. Request might be querying historical state', 'behind'],
    [-32602, 'BlockOutOfRangeError: block height is 20 but requested was 4095', 'behind'],
    [429, 'slow down', 'rate'],
    [-32005, 'daily request count exceeded, request rate limited: too many requests', 'rate'],
    [-32603, 'overloaded, try again later', 'busy'],
    [-32603, 'internal error', 'fault'],
    [-32601, 'the method eth_getLogs does not exist or is not available', 'fault'],
    [undefined, 'an unknown message', 'fault'],
  ] as const)('%p %s: %s', (code, message, meaning) => {
    expect(meaningOf(byRange, { code, message })).toBe(meaning)
  })
})

describe('no other call can be too wide:', () => {
  const errors = [
    [-32603, 'request failed or timed out', 'fault'],
    [30, 'Request timeout on the free tier, please upgrade', 'fault'],
    [-32602, 'invalid block', 'fault'],
    [-32002, 'request timed out', 'fault'],
    [-32000, 'block range too large', 'fault'],
    [-32005, 'limit exceeded', 'rate'],
    [-32007, '50/second request limit reached - reduce calls per second', 'rate'],
    [-32000, 'Too Many Requests', 'rate'],
    [-32602, 'Unknown block', 'behind'],
    [-32016, 'over rate limit', 'rate'],
    [-32000, 'App is inactive', 'fault'],
    [undefined, '', 'fault'],
  ] as const
  const methods = ['eth_getBlockByNumber', 'eth_getTransactionCount', 'eth_getTransactionReceipt', 'eth_call']
  test.each(methods.flatMap((method) => errors.map((error) => [method, ...error] as const)))(
    '%s %p %s: %s',
    (method, code, message, meaning) => {
      expect(meaningOf(method, { code, message })).toBe(meaning)
    },
  )
})

describe('a revert is an answer of the chain, whatever its words:', () => {
  test.each([
    { code: 3, message: 'too many requests' },
    { code: 3, message: 'execution reverted: rate limit', data: '0x08c379a0' },
    { code: -32603, message: 'execution reverted: 100 requests per second, try again' },
    { code: -32000, message: 'too many requests', data: '0x08c379a0' },
    { code: -32000, message: 'out of gas' },
    { code: -32603, message: 'VM Exception while processing transaction: revert', data: '' },
    {
      code: undefined,
      message: "VM Exception while processing transaction: reverted with reason string 'limit exceeded'",
    },
  ])('%p', (error) => {
    expect(meaningOf('eth_call', error)).toBe('chain')
    expect(meaningOf('eth_estimateGas', error)).toBe('chain')
  })

  test('but not an error whose data is the number of a block', () => {
    const message = 'One of the blocks specified in filter cannot be found'
    expect(meaningOf('eth_call', { code: -32000, message, data: '0x11c5280' })).toBe('fault')
    expect(meaningOf('eth_call', { code: -32000, message: 'header not found', data: '0x11' })).toBe('behind')
  })

  test('but only of a call that runs code', () => {
    const error = { code: -32005, message: 'too many requests, reverted to the free tier' }
    expect(meaningOf('eth_getBlockByNumber', error)).toBe('rate')
    expect(meaningOf('eth_sendRawTransaction', error)).toBe('rate')
  })
})
