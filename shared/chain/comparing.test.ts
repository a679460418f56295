import { afterEach, describe, expect, test } from 'bun:test'
import { steadyClock } from '#platform/clock'
import { type Log, openLog } from '#platform/log'
import { openAsker } from '#shared/chain/asker'
import { startComparing } from '#shared/chain/comparing'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { openHeads } from '#shared/chain/heads'
import type { ChainIdentity } from '#shared/chain/identity'
import type { RpcBudget } from '#shared/chain/turns'
import { waitUntil } from '#test/support/wait'

const log = openLog('test', 'silent')
const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})

const bornAt = Date.now()
const headNow = () => 1_000 + Math.floor((Date.now() - bornAt) / 100)
const hex = (number: number) => `0x${number.toString(16)}`
type Chain = {
  head: () => number | null
  genesis: string
  chainId: number
  code: string
  history: string
  events: number
}
type Call = { id: number; method: string; params: [string, ...unknown[]] }

/** Serves a chain and counts the calls other than comparisons. */
function serve(changes: Partial<Chain> = {}) {
  const chain: Chain = {
    head: headNow,
    genesis: `0x${'aa'.repeat(32)}`,
    chainId: 10_143,
    code: '0x60',
    history: '11',
    events: 7,
    ...changes,
  }
  const resultOf = ({ method, params: [first] }: Call) => {
    if (method === 'eth_chainId') return hex(chain.chainId)
    if (method === 'eth_getCode') return chain.code
    if (method === 'eth_call') return `0x${chain.events.toString(16).padStart(64, '0')}`
    if (method === 'eth_blockNumber') return hex(chain.head() ?? 0)
    const block = (number: string, hash = `0x${chain.history.repeat(32)}`) => ({
      number,
      hash,
      parentHash: `0x${'00'.repeat(32)}`,
      timestamp: '0x1',
      baseFeePerGas: '0x1',
    })
    if (first === '0x0') return block('0x0', chain.genesis)
    const head = chain.head()
    if (head === null) return null
    if (first.startsWith('0x')) return Number(first) <= head ? block(first) : null
    return block(hex(head))
  }
  const served = { chain, calls: 0, url: '' }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const call = (await request.json()) as Call
      served.calls += 1
      return Response.json({ jsonrpc: '2.0', id: call.id, result: resultOf(call) })
    },
  })
  opened.push({ [Symbol.asyncDispose]: () => server.stop(true) })
  served.url = `http://127.0.0.1:${server.port}`
  return served
}

const identity = { chainId: 10_143, genesisHash: 'unchecked', contracts: ['0x01'] as const }
type Options = { identity?: ChainIdentity; budget?: RpcBudget; log?: Log }
function open(served: readonly { url: string }[], options: Options = {}) {
  const endpoints = openRpcEndpoints({ rpcUrls: served.map(({ url }) => url), ...options })
  const how = { timeoutMs: 2_000, batches: false }
  const ask = openAsker({ endpoints, ...how })
  const headOf = async (tag: string) => {
    const call = { method: 'eth_getBlockByNumber', params: [tag, false] }
    return Number(((await ask(call)) as { number: string }).number)
  }
  return { endpoints, ask, headOf }
}

describe('with two endpoints, the first of which', () => {
  test.each([
    ['stands still', (at: number) => () => at],
    ['lags by three seconds', () => () => headNow() - 30],
    ['has no finalized block', () => () => null],
  ])('%s, the second is asked, until the first has caught up', async (_, ill) => {
    const [first, second] = [serve(), serve()]
    const { endpoints, headOf } = open([first, second])
    opened.push(startComparing(endpoints, log))
    const [one] = endpoints.all
    await headOf('finalized')
    expect(endpoints.inOrder()[0]).toBe(one!)
    first.chain.head = ill(headNow())
    const beganAt = Date.now()
    const isLeft = async () => {
      await headOf('finalized')
      return endpoints.inOrder()[0] !== one
    }
    await waitUntil('the first being left', isLeft)
    expect(await headOf('finalized')).toBeGreaterThanOrEqual(1_000 + Math.floor((beganAt - bornAt) / 100))
    first.chain.head = headNow
    await waitUntil('the first being used again', async () => endpoints.inOrder()[0] === one)
  })

  test('lacks a block that the other one has finalized, the other is asked for it', async () => {
    const [first, second] = [serve({ head: () => 5 }), serve()]
    const { endpoints, headOf } = open([second, first])
    await headOf('finalized')
    endpoints.shun(endpoints.all[0]!)
    expect(await headOf(hex(900))).toBe(900)
  })
})

test('a head is not read from an endpoint that is behind, however long the others take', async () => {
  const [good, still] = [serve(), serve({ head: () => 5 })]
  const budget = { requestsPerSecond: 3, ethCallsPerSecond: 3 }
  const { endpoints, headOf } = open([good, still], { budget })
  const [first, second] = endpoints.all
  const call = { method: 'eth_getBlockByNumber', params: ['latest', false] }
  endpoints.judge(first!, call, { number: hex(headNow()), hash: '0x1' }, steadyClock())
  endpoints.judge(second!, call, { number: '0x5', hash: '0x1' }, steadyClock() + 1_000)
  const heads = await Promise.all(Array.from({ length: 8 }, () => headOf('latest')))
  expect(Math.min(...heads)).toBeGreaterThan(5)
  expect(still.calls).toBe(0)
})

test('an endpoint that did not respond is not asked while the budget of another is spent for a moment', async () => {
  const [silent, healthy] = [serve(), serve()]
  const budget = { requestsPerSecond: 10, ethCallsPerSecond: 10 }
  const { endpoints, headOf } = open([silent, healthy], { budget })
  endpoints.shun(endpoints.all[0]!)
  await Promise.all(Array.from({ length: 4 }, () => headOf('latest')))
  expect([silent.calls, healthy.calls]).toEqual([0, 4])
})

test('an endpoint of a chain that lost its last blocks is not behind, once none has had them for ten seconds', () => {
  let now = 0
  const heads = openHeads<string>(() => now)
  const note = (number: number) => heads.record('a', { number: hex(number), hash: '0x1' }, now)
  note(100)
  now = 9_999
  note(40)
  expect(heads.isBehind('a')).toBe(true)
  now = 10_000
  note(41)
  expect(heads.isBehind('a')).toBe(false)
  expect(heads.newest()).toBe(41n)
})

test('an endpoint with our block 0 and another history is not believed', async () => {
  const [ours, other] = [serve(), serve({ history: '22' })]
  const { endpoints, ask } = open([ours, other], { identity })
  const height = { method: 'eth_blockNumber', params: [] }
  const [first, second] = endpoints.all
  opened.push(startComparing(endpoints, log))
  await waitUntil('the other being left', () => second!.isOurs === false)
  expect(first!.isOurs).toBe(true)
  endpoints.shun(first!)
  const before = ours.calls
  await ask(height)
  expect(ours.calls).toBeGreaterThan(before)
})

test('an endpoint that begins to serve another history is not used any more', async () => {
  const [ours, other] = [serve(), serve()]
  const { endpoints, headOf } = open([ours, other], { identity })
  const [, second] = endpoints.all
  await headOf('finalized')
  const askOther = async (call: { method: string; params?: unknown }) => {
    const reply = await fetch(other.url, { method: 'POST', body: JSON.stringify({ id: 1, ...call }) })
    return ((await reply.json()) as { result: unknown }).result
  }
  expect(await endpoints.compareHistory(second!, askOther)).toBe(true)
  other.chain.history = '33'
  await expect(endpoints.compareHistory(second!, askOther)).rejects.toThrow(/block \d+ is 0x33/)
  expect(second!.isOurs).toBe(false)
})

test.each([
  ['the first', 0],
  ['the second', 1],
])('%s of two endpoints is behind while its state is old, although it has every block', async (_, place) => {
  const served = [serve(), serve()]
  const { endpoints } = open(served, { identity: { ...identity, creditLine: '0x01' } })
  opened.push(startComparing(endpoints, log))
  const [old, other] = [endpoints.all[place]!, endpoints.all[1 - place]!]
  served[place]!.chain.events = 6
  await waitUntil('the old state being noticed', () => endpoints.isBehind(old), 15_000)
  expect(endpoints.isBehind(other)).toBe(false)
  const call = { method: 'eth_getTransactionCount', params: ['0x1', 'latest'] }
  expect(endpoints.fitFor(call, endpoints.all)).toEqual([other])
  served[place]!.chain.events = 7
  await waitUntil('the return of the endpoint', () => !endpoints.isBehind(old), 15_000)
})

describe('an endpoint of another chain', () => {
  test.each([
    // guard: the service signs only for its configured chain
    ['with another id', { chainId: 1 }],
    ['with the same id and another block 0', { genesis: `0x${'bb'.repeat(32)}` }],
    ['with other code at our address', { code: '0x61' }],
    ['without our contract', { code: '0x' }],
  ])('%s is not believed while the first is away, nor when it comes back', async (_, changes) => {
    const [ours, other] = [serve(), serve(changes)]
    const raised: { msg: string; alarm?: boolean }[] = []
    const telling = openLog('test', 'info', { write: (line) => void raised.push(JSON.parse(line)) })
    const { endpoints, ask } = open([ours, other], { identity, log: telling })
    const height = { method: 'eth_blockNumber', params: [] }
    await ask(height)
    expect(raised).toEqual([])
    endpoints.shun(endpoints.all[0]!)
    const before = ours.calls
    await ask(height)
    expect(ours.calls).toBe(before + 1)
    const [msg, endpoint] = ['endpoint serves another chain, not used', new URL(other.url).host]
    expect(raised).toMatchObject([{ alarm: true, msg, endpoint, reason: expect.stringMatching(/\w/) }])
    // The endpoint that served our chain serves another one after an outage.
    Object.assign(ours.chain, changes)
    endpoints.lost(endpoints.all[0]!, new Error('away'))
    await expect(ask(height)).rejects.toThrow(/fix RPC_URLS|another chain/)
  })
})
