import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createTestClient, http, numberToHex, parseGwei, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { waitUntil } from '#infra/local/wait'
import { type AnvilProcess, startAnvil } from '#test/support/engines/anvil'
import { openRpcProxy, type RpcProxy } from './proxy'

const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
let anvil: AnvilProcess
let proxy: RpcProxy
const openNode = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)
let node: ReturnType<typeof openNode>

beforeAll(async () => {
  anvil = await startAnvil(['--no-mining', '--slots-in-an-epoch', '1'])
  node = openNode(anvil.rpcUrl)
  await node.mine({ blocks: 130 })
})
afterAll(async () => anvil.close())
beforeEach(() => {
  proxy = openRpcProxy({ target: anvil.rpcUrl, faults: { seed: 1 } })
})
afterEach(async () => {
  await proxy[Symbol.asyncDispose]()
  await node.mine({ blocks: 3 })
})

type Reply = { id: number; result?: unknown; error?: { code: number; message: string } }
const post = async (body: unknown, timeoutMs = 5_000) => {
  const response = await fetch(proxy.url, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, body: (await response.json()) as Reply & Reply[] }
}
const ask = async (method: string, params: unknown[] = []) =>
  (await post({ jsonrpc: '2.0', id: 1, method, params })).body

let tip = 1
const signed = async (fields: { nonce?: number; maxFeeGwei?: string } = {}) => {
  const nonce = fields.nonce ?? (await node.getTransactionCount({ address: account.address }))
  return account.signTransaction({
    type: 'eip1559',
    chainId: 10_143,
    nonce,
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: parseGwei(fields.maxFeeGwei ?? '500') + BigInt(tip++),
  })
}
const send = async (raw?: string) => ask('eth_sendRawTransaction', [raw ?? (await signed())])
const poolSize = async () => {
  const status = (await node.getTxpoolStatus()) as { pending: number; queued: number }
  return status.pending + status.queued
}
const outcomes = () => proxy.journal.sends.map((sent) => sent.outcome)

describe('Monad without faults', () => {
  test('Monad without faults does not count pool transactions in a pending nonce', async () => {
    const before = await ask('eth_getTransactionCount', [account.address, 'latest'])
    await send()
    expect(await node.getTransactionCount({ address: account.address, blockTag: 'pending' })).toBe(
      Number(before.result) + 1,
    )
    const pending = await ask('eth_getTransactionCount', [account.address, 'pending'])
    expect(pending.result).toBe(before.result)
  })

  test('Monad without faults finds a transaction by hash only once it is in a block', async () => {
    const { result: hash } = await send()
    expect((await ask('eth_getTransactionByHash', [hash])).result).toBeNull()
    await node.mine({ blocks: 1 })
    expect((await ask('eth_getTransactionByHash', [hash])).result).toMatchObject({ hash })
  })

  test.each([
    [100, undefined],
    [101, { code: -32614, message: 'eth_getLogs is limited to a 100 range' }],
  ])('Monad without faults answers a range of %d blocks with %p', async (width, error) => {
    const filter = { fromBlock: '0x1', toBlock: numberToHex(1 + width) }
    expect((await ask('eth_getLogs', [filter])).error).toEqual(error)
  })

  test('Monad without faults refuses known transactions with its own texts', async () => {
    const raw = await signed({ nonce: 0, maxFeeGwei: '900' })
    await send()
    await node.mine({ blocks: 1 })
    const refused = { code: -32603, message: 'Transaction nonce too low' }
    expect((await send(raw)).error).toEqual(refused)
    expect((await send(raw)).error).toEqual(refused)
    expect(outcomes()).toEqual(['forwarded', 'refused by the node', 'refused again'])
  })

  test('Monad without faults accepts the same bytes twice and forwards them once', async () => {
    const raw = await signed()
    const first = await send(raw)
    expect(await send(raw)).toEqual(first)
    expect(outcomes()).toEqual(['forwarded', 'known'])
  })

  test('Monad without faults answers a batch in order, with refusals among the results', async () => {
    const { body } = await post([
      { jsonrpc: '2.0', id: 7, method: 'eth_chainId' },
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'eth_getLogs',
        params: [{ fromBlock: '0x0', toBlock: '0xff' }],
      },
      { jsonrpc: '2.0', id: 5, method: 'eth_nonsense' },
    ])
    expect(body.map((reply) => reply.id)).toEqual([7, 3, 5])
    expect(body[0]!.result).toBe('0x279f')
    expect(body[1]!.error?.code).toBe(-32614)
    expect(body[2]!.error).toBeDefined()
  })
})

describe('a sent transaction', () => {
  test('a sent transaction can be swallowed: its hash is returned, and it never arrives', async () => {
    proxy.setFaults({ swallowSendRate: 1 })
    expect((await send()).result).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await poolSize()).toBe(0)
  })

  test('a sent transaction can be delayed: its hash is returned, and it arrives later', async () => {
    proxy.setFaults({ delaySendRate: 1, delaySendMs: 3_000 })
    expect((await send()).result).toMatch(/^0x/)
    expect(await poolSize()).toBe(0)
    await waitUntil('its coming', async () => (await poolSize()) === 1)
  })

  test('a sent transaction can be accepted without a response', async () => {
    proxy.setFaults({ timeoutAfterAcceptRate: 1 })
    const raw = await signed()
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] }
    await expect(post(body, 300)).rejects.toThrow()
    await waitUntil('its coming', async () => (await poolSize()) === 1)
    proxy.setFaults({ timeoutAfterAcceptRate: 0 })
    expect((await send(raw)).result).toMatch(/^0x/)
  })

  test.each(['Transaction pool is full', 'overloaded, try again later', 'rpc no longer tracking tx'] as const)(
    'refused with "%s" is refused again permanently',
    async (poolWord) => {
      proxy.setFaults({ poolErrorRate: 1, poolWord })
      const raw = await signed()
      expect((await send(raw)).error).toEqual({ code: -32603, message: poolWord })
      proxy.setFaults({ poolErrorRate: 0 })
      expect((await send(raw)).error).toEqual({ code: -32603, message: poolWord })
      expect((await send()).result).toMatch(/^0x/)
    },
  )
})

describe('a read', () => {
  const head = async (tag: string) =>
    Number(((await ask('eth_getBlockByNumber', [tag, false])).result as { number: string }).number)

  test('a read of a receipt can find it, miss it for two reads, then find it permanently', async () => {
    proxy.setFaults({ vanishReceiptReads: 2 })
    const { result: hash } = await send()
    await node.mine({ blocks: 1 })
    const seen: boolean[] = []
    for (let read = 0; read < 5; read++) {
      seen.push((await ask('eth_getTransactionReceipt', [hash])).result !== null)
    }
    expect(seen).toEqual([true, false, false, true, true])
  })

  test('a read of the receipts of a block can miss a receipt likewise', async () => {
    proxy.setFaults({ vanishReceiptReads: 1 })
    await send()
    await node.mine({ blocks: 1 })
    const block = numberToHex(await node.getBlockNumber())
    const seen: number[] = []
    for (let read = 0; read < 3; read++) {
      seen.push(((await ask('eth_getBlockReceipts', [block])).result as unknown[]).length)
    }
    expect(seen).toEqual([1, 0, 1])
  })

  test('a read of every kind follows a lagging head, and newer data does not exist', async () => {
    const latest = Number(await node.getBlockNumber())
    proxy.setFaults({ headLagBlocks: 4 })
    expect(await head('latest')).toBe(latest - 4)
    expect(await head('finalized')).toBe(latest - 6)
    expect(Number((await ask('eth_blockNumber')).result)).toBe(latest - 4)
    const above = await ask('eth_getBlockByNumber', [numberToHex(latest - 3), false])
    expect(above.result).toBeNull()
  })

  test('a read of the head stays the same once it stands still, until the fault ends', async () => {
    const latest = await head('latest')
    proxy.setFaults({ headStandsStill: true })
    expect(await head('latest')).toBe(latest)
    await node.mine({ blocks: 3 })
    expect(await head('latest')).toBe(latest)
    proxy.setFaults({})
    expect(await head('latest')).toBe(latest + 3)
  })

  test('a read of the finalized block, of block 0 and of a receipt may be wrong', async () => {
    const hash = (await send()).result
    await node.mine({ blocks: 1 })
    proxy.setFaults({ finalizedIsNull: true, otherGenesis: true, discardedBlockRate: 1 })
    expect((await ask('eth_getBlockByNumber', ['finalized', false])).result).toBeNull()
    const [genesis, receipt] = [
      (await ask('eth_getBlockByNumber', ['0x0', false])).result as { hash: string },
      (await ask('eth_getTransactionReceipt', [hash])).result as { blockHash: string },
    ]
    proxy.setFaults({})
    const right = (await ask('eth_getTransactionReceipt', [hash])).result as { blockHash: string }
    expect(receipt.blockHash).not.toBe(right.blockHash)
    expect(genesis.hash).not.toBe((await node.getBlock({ blockNumber: 0n })).hash)
  })

  test('a read of the head moves back and forth, identically for the same seed', async () => {
    const walk = async () => {
      proxy.setFaults({ headBackRate: 0.5, headBackBlocks: 9, seed: 42 })
      const heads: number[] = []
      for (let read = 0; read < 12; read++) heads.push(await head('latest'))
      return heads
    }
    const heads = await walk()
    expect(new Set(heads).size).toBe(2)
    expect(await walk()).toEqual(heads)
  })

  test('a read of logs beyond a lagging head is refused', async () => {
    const latest = Number(await node.getBlockNumber())
    proxy.setFaults({ headLagBlocks: 4 })
    const filter = { fromBlock: numberToHex(latest - 2), toBlock: numberToHex(latest) }
    expect((await ask('eth_getLogs', [filter])).error).toMatchObject({ code: -32602 })
  })
})

describe('the connection to the endpoint', () => {
  test.each([
    ['is cut', { disconnectRate: 1 }, 60_000, 'The socket connection was closed'],
    ['hangs', { hangRate: 1 }, 300, 'timed out'],
  ])('the connection to the endpoint %s', async (_what, faults, deadlineMs, words) => {
    proxy.setFaults(faults)
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    const error = await post(body, deadlineMs).catch((e) => e)
    expect(String(error)).toContain(words)
  })

  test('the connection to the endpoint can answer 429', async () => {
    proxy.setFaults({ tooManyRequestsRate: 1 })
    const response = await fetch(proxy.url, { method: 'POST', body: '{"method":"eth_chainId"}' })
    expect(response.status).toBe(429)
  })

  test('the connection to the endpoint can answer 413 to a wide range', async () => {
    proxy.setFaults({ logsRangeStatus: 413 })
    const params = [{ fromBlock: '0x0', toBlock: '0xff' }]
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })).status).toBe(413)
  })
})

describe('the controls', () => {
  const control = (change: unknown) =>
    fetch(`${proxy.url}/control/faults`, { method: 'POST', body: JSON.stringify(change) })

  test('the controls set faults over HTTP, and an empty object ends them', async () => {
    expect(await (await control({ headLagBlocks: 3 })).json()).toMatchObject({ headLagBlocks: 3 })
    expect(proxy.faults().headLagBlocks).toBe(3)
    await control({})
    expect(proxy.faults().headLagBlocks).toBe(0)
  })

  test.each([
    [{ swallowSends: 1 }, 'swallowSends is not a fault'],
    [{ swallowSendRate: 2 }, 'swallowSendRate must be from 0 to 1'],
    [{ pendingIsLatest: 'no' }, 'pendingIsLatest must be a boolean'],
    [{ poolWord: 'sorry' }, "poolWord must be one of the pool's words"],
  ])('the controls refuse %p', async (change, words) => {
    const response = await control(change)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: words })
  })

  test('the controls show the transactions that were sent', async () => {
    await send()
    const journal = await (await fetch(`${proxy.url}/control/journal`)).json()
    expect(journal).toMatchObject({
      sends: [{ outcome: 'forwarded' }],
      calls: { eth_sendRawTransaction: 1 },
    })
  })
})

describe('a public endpoint', () => {
  const statusOf = async (body: unknown) =>
    (await fetch(proxy.url, { method: 'POST', body: JSON.stringify(body) })).status
  const calls = (count: number, method = 'eth_blockNumber') =>
    Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method, params: [] }))

  test('a public endpoint counts each call of a batch, and answers 429 above its limit', async () => {
    proxy.setFaults({ requestsPerSecondMax: 5 })
    const statuses = await Promise.all([statusOf(calls(5)), statusOf(calls(1))])
    expect(statuses.toSorted()).toEqual([200, 429])
    expect(proxy.journal.tooMany).toBe(1)
  })

  test('a public endpoint counts eth_call separately', async () => {
    proxy.setFaults({ ethCallsPerSecondMax: 2 })
    expect(await statusOf(calls(3, 'eth_call'))).toBe(429)
    expect(await statusOf(calls(9))).toBe(200)
    expect(await statusOf(calls(2, 'eth_call'))).toBe(200)
  })

  test('a public endpoint may refuse batches', async () => {
    proxy.setFaults({ takesBatches: false })
    expect(await statusOf(calls(2))).toBe(400)
    expect((await ask('eth_chainId')).result).toBe('0x279f')
  })
})
