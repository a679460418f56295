import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicClient, http } from 'viem'
import { type AnvilProcess, startAnvil } from '#test/support/engines/anvil'
import { openSandboxFixture, type SandboxFixture } from '#test/support/sandbox'

let node: AnvilProcess
let fixture: SandboxFixture
beforeAll(async () => {
  node = await startAnvil(['--block-time', '0.3', '--slots-in-an-epoch', '1'])
  fixture = await openSandboxFixture({ rpcUrl: node.rpcUrl })
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  await node.close()
})

const timeAt = async (blockTag: 'latest' | 'finalized') => {
  const client = createPublicClient({ transport: http(node.rpcUrl), cacheTime: 0 })
  return Number((await client.getBlock({ blockTag })).timestamp)
}

describe("the sandbox's control of the chain's clock", () => {
  test('chain/advance moves the finalized time at once, and later blocks continue from there', async () => {
    const month = 30 * 86_400
    const before = await timeAt('latest')
    const { status, json } = await fixture.control('chain/advance', { seconds: month })
    expect(status).toBe(200)
    expect(Number(json.chainTime)).toBeGreaterThanOrEqual(before + month)
    expect(await timeAt('finalized')).toBeGreaterThanOrEqual(Number(json.chainTime))
    expect(await timeAt('latest')).toBeLessThan(before + month + 86_400)
    await fixture.control('chain/advance', { seconds: 1 })
    expect(await timeAt('finalized')).toBeGreaterThan(Number(json.chainTime))
  })

  test('chain/advance reports which clocks moved with it and which did not', async () => {
    const { json } = await fixture.control('chain/advance', { seconds: 1 })
    expect(json.moved).toContain('holds')
    expect(json.unmoved).toContain('sessions')
    expect(json.advice).toContain('validBefore')
    expect(json.advice).toContain('a day after dueAt')
  })

  test.each([0, -1, 1.5, '60', 366 * 86_400 + 1, undefined])(
    'chain/advance refuses %p seconds and leaves the chain unchanged',
    async (seconds) => {
      const before = await timeAt('latest')
      const { status, json } = await fixture.control('chain/advance', { seconds })
      expect(status).toBe(400)
      expect(json.error).toStartWith('seconds must be')
      expect(await timeAt('latest')).toBeLessThan(before + 3_600)
    },
  )

  test('chain/advance is refused without a local chain', async () => {
    await using alone = await openSandboxFixture()
    const { status, json } = await alone.control('chain/advance', { seconds: 1 })
    expect({ status, json }).toEqual({
      status: 409,
      json: { error: 'this sandbox has no local chain' },
    })
  })

  test('chain/advance is refused if the node has a real clock', async () => {
    const block = { number: '0x1', timestamp: '0x1', transactions: [] }
    await using real = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { id, method } = (await request.json()) as { id: number; method: string }
        const unknown = { code: -32601, message: `Method ${method} not found` }
        return Response.json(
          method === 'eth_getBlockByNumber'
            ? { jsonrpc: '2.0', id, result: block }
            : { jsonrpc: '2.0', id, error: unknown },
        )
      },
    })
    await using sandbox = await openSandboxFixture({ rpcUrl: real.url.href })
    const { status, json } = await sandbox.control('chain/advance', { seconds: 1 })
    expect(status).toBe(409)
    expect(json.error).toStartWith('the chain does not let its clock be moved')
  })
})
