import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Address, Hex } from 'viem'
import { openRpcFilter } from '#test/support/engines/rpc-filter'
import { openTestChain, openTestEndpoints, type TestChain, testLog } from '../test-support'
import { awaitChain } from './identity'

let chain: TestChain
beforeAll(async () => {
  chain = await openTestChain()
})
afterAll(() => chain.close())

async function start(creditLineAddress: Address, rpcUrls = [chain.rpcUrl]) {
  const said: string[] = []
  let ended = false
  const log = Object.assign(Object.create(testLog), {
    fatal: ({ reason }: { reason: string }) => said.push(reason),
  })
  const began = await awaitChain(
    openTestEndpoints(rpcUrls),
    { chainId: 10_143, genesisHash: 'unchecked', contract: creditLineAddress },
    { log, signal: AbortSignal.timeout(20_000), fatal: () => (ended = true) },
  )
  return { began, ended, said }
}

describe('the reader starts', () => {
  test('with a credit line of its own version', async () => {
    const begun = { began: true, ended: false, said: [] }
    expect(await start(chain.deployment.creditLine)).toEqual(begun)
  })

  test('with a credit line that cannot repay automatically', async () => {
    const address = '0x00000000000000000000000000000000000c0de3'
    await chain.setCode(address, answering(3))
    expect(await start(address)).toMatchObject({ began: true, said: [] })
  })

  test('although another endpoint is down', async () => {
    const urls = ['http://127.0.0.1:1', chain.rpcUrl]
    expect(await start(chain.deployment.creditLine, urls)).toMatchObject({ began: true })
  })

  test.each([
    ['serves another chain', 'eth_chainId', '0x1'],
    ['has no state of the contract', 'eth_getCode', '0x'],
    ['answers calls with nothing', 'eth_call', '0x'],
  ])('although another endpoint %s', async (_what, method, result) => {
    await using other = openRpcFilter(chain.rpcUrl, (call, right) => (call.method === method ? result : right))
    const began = await start(chain.deployment.creditLine, [other.url, chain.rpcUrl])
    expect(began).toMatchObject({ began: true, ended: false, said: [] })
  })
})

/** Returns runtime code that answers every call with this one word. */
const answering = (word: number): Hex => `0x60${word.toString(16).padStart(2, '0')}60005260206000f3`

describe('the reader ends with a reason at a contract', () => {
  test.each([
    ['of an older version', answering(1), /is version 1, this service needs 3 or 4. Run: bun run deploy/],
    ['of a newer version', answering(5), /is version 5, this service needs 3 or 4/],
    ['that reverts when asked, as the first line did', '0x60006000fd', /version unknown/],
    ['that answers nothing', '0x00', /version unknown/],
    ['that is not there', '0x', /no contract at .*: fix .*CREDIT_LINE_ADDRESS/],
  ] as [string, Hex, RegExp][])('%s', async (_what, bytecode, words) => {
    const address = '0x00000000000000000000000000000000000c0de5'
    await chain.setCode(address, bytecode)
    expect(await start(address)).toEqual({
      began: false,
      ended: true,
      said: [expect.stringMatching(words)],
    })
  })

  test('if every endpoint is of another chain', async () => {
    await using other = openRpcFilter(chain.rpcUrl, ({ method }, right) => (method === 'eth_chainId' ? '0x1' : right))
    const ended = await start(chain.deployment.creditLine, [other.url, other.url])
    expect(ended).toEqual({ began: false, ended: true, said: [expect.stringMatching(/chain id 1, not 10143/)] })
  })
})
