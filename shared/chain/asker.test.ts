import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { pause } from '#platform/deadline'
import { openLog } from '#platform/log'
import { openAsker } from '#shared/chain/asker'
import { findBatches, verdictOn } from '#shared/chain/batches'
import { openCallsPerBlock } from '#shared/chain/calls-per-block'
import { openChainReader } from '#shared/chain/client'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { waitUntil } from '#test/support/wait'

type Call = { id: number; method: string }
type Reply = (asked: Call | Call[], times: number) => Response

const servers: { stop: (now: boolean) => unknown }[] = []
afterEach(() => {
  setSystemTime()
  for (const server of servers.splice(0)) server.stop(true)
})

const header = {
  number: '0x7',
  hash: `0x${'11'.repeat(32)}`,
  parentHash: `0x${'00'.repeat(32)}`,
  timestamp: '0x1',
  baseFeePerGas: '0x174876e800',
}
const result = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [] : '0x279f' })
const good: Reply = (asked) => Response.json(Array.isArray(asked) ? asked.map(result) : result(asked))
const answering =
  (given: unknown): Reply =>
  (asked) =>
    Response.json({ jsonrpc: '2.0', id: (asked as Call).id, result: given })
const noBatches: Reply = (asked, times) =>
  Array.isArray(asked)
    ? Response.json({ error: { code: -32600, message: 'no batches here' } }, { status: 400 })
    : good(asked, times)
const failing =
  (code: number, message: string): Reply =>
  (asked) =>
    Response.json({ id: (asked as Call).id, error: { code, message } })
const tooMany =
  (retryAfter: string): Reply =>
  () =>
    new Response('slow down', { status: 429, headers: { 'retry-after': retryAfter } })

/** Serves JSON-RPC with these replies. `asked` has the requests received, one entry each. */
function serve(reply: Reply) {
  const asked: (Call | Call[])[] = []
  const endpoint = { reply, asked, url: '' }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      asked.push((await request.json()) as Call | Call[])
      return endpoint.reply(asked.at(-1)!, asked.length)
    },
  })
  servers.push(server)
  endpoint.url = `http://127.0.0.1:${server.port}`
  return endpoint
}

const log = openLog('test', 'silent')
const chainId = { method: 'eth_chainId', params: [] }
const dead = 'http://127.0.0.1:9'

function open(urls: readonly string[], more: { timeoutMs?: number; batches?: boolean } = {}) {
  const endpoints = openRpcEndpoints({ rpcUrls: urls })
  const options = { timeoutMs: 2_000, batches: true, ...more }
  return { endpoints, ask: openAsker({ endpoints, ...options }) }
}

describe('the next endpoint is asked if one', () => {
  test.each<[string, Reply]>([
    ['answers 429', tooMany('1')],
    ['answers 502', () => new Response('bad gateway', { status: 502 })],
    ['answers with an error of its own', failing(-32603, 'internal error')],
    ['reports a rate limit in JSON-RPC', failing(-32005, 'limit exceeded')],
    ['answers no JSON', () => new Response('<html>')],
  ])('%s', async (_what, reply) => {
    const [first, second] = [serve(reply), serve(good)]
    const { ask } = open([first.url, second.url])
    expect(await ask(chainId)).toBe('0x279f')
    expect([first.asked.length, second.asked.length]).toEqual([1, 1])
  })

  test('is down', async () => {
    const { ask } = open([dead, serve(good).url])
    expect(await ask(chainId)).toBe('0x279f')
  })

  test('does not respond: it is then asked last for a while', async () => {
    const [silent, second] = [serve(() => new Promise(() => {}) as never), serve(good)]
    const { ask } = open([silent.url, second.url], { timeoutMs: 3_000 })
    for (let times = 0; times < 5; times++) expect(await ask(chainId)).toBe('0x279f')
    expect([silent.asked.length, second.asked.length]).toEqual([1, 5])
  })
})

describe('an endpoint that answers with errors of its own', () => {
  const inactive = failing(-32000, 'App is inactive')
  const send = { method: 'eth_sendRawTransaction', params: ['0x01'] }

  test('is asked last after five in a row', async () => {
    const [first, second] = [serve(inactive), serve(good)]
    const { ask } = open([first.url, second.url])
    for (let times = 0; times < 20; times++) expect(await ask(chainId)).toBe('0x279f')
    expect([first.asked.length, second.asked.length]).toEqual([5, 20])
  })

  test.each<[string, () => [Reply, object[]]]>([
    ['to one method', () => [(asked, times) => (times % 2 ? inactive : good)(asked, times), [chainId]]],
    ['to transactions', () => [failing(-32603, 'Transaction nonce too low'), [send]]],
  ])('%s alone is asked first as before', async (_, given) => {
    const [reply, calls] = given()
    const [first, second] = [serve(reply), serve(good)]
    const { ask } = open([first.url, second.url])
    for (let times = 0; times < 20; times++) for (const call of calls) await ask(call as typeof chainId)
    expect(first.asked.length).toBe(20)
  })
})

test('the loss of an endpoint is logged once, and so is its return', async () => {
  const lines: { msg: string; endpoint: string }[] = []
  const told = () => lines.map(({ msg }) => msg)
  const telling = openLog('test', 'info', { write: (line) => void lines.push(JSON.parse(line)) })
  const away: Reply = () => new Response('bad gateway', { status: 502 })
  const endpoint = serve(away)
  const endpoints = openRpcEndpoints({ rpcUrls: [endpoint.url], log: telling })
  const how = { timeoutMs: 2_000, batches: true }
  const ask = openAsker({ endpoints, ...how })
  for (let times = 0; times < 5; times++) await ask(chainId).catch(() => {})
  expect(lines).toMatchObject([{ msg: 'rpc endpoint unavailable', endpoint: new URL(endpoint.url).host }])
  endpoint.reply = good
  await waitUntil('the return being told', async () => {
    await ask(chainId)
    return told().length > 1
  })
  expect(told()).toEqual(['rpc endpoint unavailable', 'rpc endpoint available again'])
})

test('an endpoint is not reported unavailable by a call that spent most of its time waiting for budget', async () => {
  const lines: string[] = []
  const telling = openLog('test', 'info', { write: (line) => void lines.push(line) })
  const slow = serve((asked) => pause(300).then(() => good(asked, 1)) as never)
  const budget = { requestsPerSecond: 1, ethCallsPerSecond: 1 }
  const endpoints = openRpcEndpoints({ rpcUrls: [slow.url], budget, log: telling })
  const ask = openAsker({ endpoints, timeoutMs: 1_100, batches: false })
  await Promise.allSettled([ask(chainId), ask(chainId)])
  expect(lines).toEqual([])
})

describe('a batch', () => {
  const balanceOf = (address: string) => ({ method: 'eth_getBalance', params: [address, 'latest'] })
  const asked = ['0x1', '0x2', '0x3']
  type BalanceCall = Call & { params: [string] }
  const own = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: (call as BalanceCall).params[0] })

  test.each<[string, (calls: Call[]) => unknown[]]>([
    ['out of order', (calls) => calls.map(own).toReversed()],
    ['without one of the calls', (calls) => calls.slice(1).map(own)],
    ['with one answer twice', ([one, two, last]) => [one!, one!, two!, last!].map(own)],
    ['with one answer instead of another', ([one, two]) => [one!, two!, one!].map(own)],
    ['with an id that is text', (calls) => calls.map((call) => ({ ...own(call), id: String(call.id) }))],
    ['with answers without an id', (calls) => calls.map((call) => ({ ...own(call), id: null }))],
    ['with null in it', ([, ...others]) => [null, ...others.map(own)]],
  ])('%s gives each call its own answer', async (_what, answer) => {
    const odd = serve((calls) => Response.json(Array.isArray(calls) ? answer(calls) : own(calls)))
    const { ask, endpoints } = open([odd.url])
    endpoints.all[0]!.takesBatches = true
    expect(await Promise.all(asked.map((address) => ask(balanceOf(address))))).toEqual(asked)
    expect(odd.asked.some(Array.isArray)).toBe(true)
  })
})

describe('an endpoint that reports a rate limit', () => {
  test('is paused for the time it names, and counted', async () => {
    const [busy, second] = [serve(tooMany('60')), serve(good)]
    const { ask, endpoints } = open([busy.url, second.url])
    for (let times = 0; times < 5; times++) await ask(chainId)
    expect([busy.asked.length, second.asked.length]).toEqual([1, 5])
    expect(endpoints.all[0]!.counts).toMatchObject({ requests: 1, tooMany: 1 })
  })

  test('gets the same call again after the pause, if there is no other', async () => {
    const busy = serve((asked, times) => (times === 1 ? tooMany('1')(asked, times) : good(asked, times)))
    const { ask } = open([busy.url], { timeoutMs: 20_000 })
    expect(await ask(chainId)).toBe('0x279f')
    expect(busy.asked).toHaveLength(2)
  })

  test('is paused no longer when the machine clock is set back', async () => {
    const busy = serve((asked, times) => (times === 1 ? tooMany('0')(asked, times) : good(asked, times)))
    const { ask, endpoints } = open([busy.url], { timeoutMs: 20_000 })
    const asked = ask(chainId)
    await waitUntil('the pause', () => endpoints.all[0]!.counts.tooMany === 1)
    setSystemTime(Date.now() - 3_600_000)
    expect(await asked).toBe('0x279f')
  })

  test('ends a call that cannot wait so long', async () => {
    const busy = serve(tooMany('60'))
    const { ask } = open([busy.url])
    await expect(ask(chainId)).rejects.toThrow(/too many requests/)
    await expect(ask(chainId)).rejects.toThrow(/budget/)
    expect(busy.asked).toHaveLength(1)
  })
})

describe("a revert is the chain's answer, so that no other endpoint is asked,", () => {
  test.each(['execution reverted: NotHeld', 'execution reverted: too many requests', 'limit exceeded'])(
    'and this one stays open: %s',
    async (message) => {
      const [first, second] = [serve(failing(3, message)), serve(good)]
      const { ask, endpoints } = open([first.url, second.url])
      await expect(ask({ method: 'eth_call', params: [] })).rejects.toThrow(message)
      expect(second.asked).toHaveLength(0)
      expect(endpoints.all[0]!.counts.tooMany).toBe(0)
      first.reply = good
      expect(await ask(chainId)).toBe('0x279f')
      expect(second.asked).toHaveLength(0)
    },
  )
})

describe('an endpoint whose answer cannot be true', () => {
  const block = (changes: object): Reply => answering({ ...header, ...changes })
  const hash = header.hash
  const headCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
  const receiptCall = { method: 'eth_getTransactionReceipt', params: [hash] }
  const receipt = { transactionHash: hash, blockHash: hash, blockNumber: '0x7', status: '0x1', logs: [] }

  test.each<[string, { method: string; params: unknown[] }, Reply, unknown]>([
    ['a block without a hash', headCall, block({ hash: null }), header],
    ['an empty list for a block', headCall, answering([]), header],
    ['null for a nonce', { method: 'eth_getTransactionCount', params: [] }, answering(null), '0x7'],
    ['the receipt of another transaction', receiptCall, answering({ ...receipt, transactionHash: '0x1' }), receipt],
    ['no value of a contract', { method: 'eth_call', params: [{ to: '0x1' }] }, answering('0x'), '0x01'],
    ['neither result nor error', chainId, (asked) => Response.json({ id: (asked as Call).id }), '0x279f'],
  ])('is avoided: %s', async (_what, call, wrong, right) => {
    const [first, second] = [serve(wrong), serve(answering(right))]
    const { ask } = open([first.url, second.url])
    for (let times = 0; times < 3; times++) expect(await ask(call)).toEqual(right)
    expect([first.asked.length, second.asked.length]).toEqual([1, 3])
  })

  test('is the only one: the call fails', async () => {
    const { ask } = open([serve(answering('0x')).url])
    await expect(ask({ method: 'eth_getBalance', params: [] })).rejects.toThrow(/returned not a quantity/)
  })

  test('is believed in what every other one says too', async () => {
    const { ask } = open([serve(answering('0x')).url, serve(answering('0x')).url])
    expect(await ask({ method: 'eth_call', params: [{ to: '0x1' }] })).toBe('0x')
  })

  test('is not believed in a doubtful answer while another one does not respond', async () => {
    const { ask } = open([serve(answering('0x')).url, dead])
    await expect(ask({ method: 'eth_call', params: [{ to: '0x1' }] })).rejects.toThrow()
  })

  test('lacks the receipt of a mined transaction: the others are asked, but not for one that may be pending', async () => {
    const [first, second] = [serve(answering(null)), serve(answering(receipt))]
    const { ask } = open([first.url, second.url])
    expect(await ask(receiptCall)).toBeNull()
    expect(await ask(receiptCall, { accepts: (found) => found !== null })).toEqual(receipt)
    const { ask: askBoth } = open([first.url, serve(answering(null)).url])
    expect(await askBoth(receiptCall, { accepts: (found) => found !== null })).toBeNull()
  })
})

describe('a query of logs that is refused with "limit exceeded"', () => {
  const limited = failing(-32005, 'limit exceeded')
  const query = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x9' }] }

  test('is repeated once, then its range is too wide, and the endpoint stays open', async () => {
    const endpoint = serve(limited)
    const { ask, endpoints } = open([endpoint.url], { timeoutMs: 10_000 })
    await expect(ask(query)).rejects.toThrow(/limit exceeded/)
    expect([endpoint.asked.length, endpoints.all[0]!.counts.tooMany]).toEqual([2, 1])
    endpoint.reply = good
    expect(await ask(chainId)).toBe('0x279f')
  })

  test('is answered in the second try if the limit was one of calls', async () => {
    const endpoint = serve((asked, times) => (times === 1 ? limited : answering([]))(asked, times))
    const { ask } = open([endpoint.url], { timeoutMs: 10_000 })
    expect(await ask(query)).toEqual([])
  })
})

describe('an endpoint asked for a batch', () => {
  test('that accepts it gets concurrent calls in one request, except sends and logs', async () => {
    const endpoint = serve(good)
    const { ask, endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    endpoint.asked.length = 0
    const methods = ['eth_chainId', 'eth_gasPrice', 'eth_sendRawTransaction', 'eth_getLogs']
    await Promise.all(methods.map((method) => ask({ method, params: [] })))
    const sizes = endpoint.asked.map((one) => (Array.isArray(one) ? one.length : 'single'))
    expect(sizes.toSorted()).toEqual([2, 'single', 'single'])
    expect(endpoints.all[0]!.counts.requests).toBe(14)
  })

  test('that refuses it gets single calls', async () => {
    const endpoint = serve(noBatches)
    const { ask, endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    await Promise.all([ask(chainId), ask(chainId)])
    expect(endpoints.all[0]!.takesBatches).toBe(false)
    expect(endpoint.asked.slice(1).every((one) => !Array.isArray(one))).toBe(true)
  })

  const threeAtMost: Reply = (asked, times) => {
    if (!Array.isArray(asked) || asked.length <= 3) return good(asked, times)
    const error = { code: 31, message: 'Batch of more than 3 requests are not allowed on free tier' }
    return Response.json(asked.map(({ id }) => ({ id, error })))
  }

  test('that refuses more than three calls gets single calls', async () => {
    const endpoint = serve(threeAtMost)
    const { ask, endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    expect(endpoints.all[0]!.takesBatches).toBe(false)
    const calls = Array.from({ length: 10 }, () => ask(chainId))
    expect(await Promise.all(calls)).toEqual(Array(10).fill('0x279f'))
  })

  test('that begins to refuse more than three calls still responds, and its batch support is checked again', async () => {
    const endpoint = serve(good)
    const { ask, endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    endpoint.reply = threeAtMost
    const calls = Array.from({ length: 10 }, () => ask(chainId))
    expect(await Promise.all(calls)).toEqual(Array(10).fill('0x279f'))
    await findBatches(endpoints, log)
    expect(endpoints.all[0]!.takesBatches).toBe(false)
  })

  test.each<[string, Reply]>([
    ['was away', () => new Response(null, { status: 503 })],
    ['was asked too often', tooMany('0')],
  ])('that %s is asked again', async (_what, reply) => {
    const endpoint = serve(reply)
    const { endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    expect(endpoints.all[0]!.takesBatches).toBeUndefined()
    endpoint.reply = good
    await findBatches(endpoints, log)
    await findBatches(endpoints, log)
    expect(endpoints.all[0]!.takesBatches).toBe(true)
    expect(endpoint.asked).toHaveLength(2)
  })

  test('that no longer accepts batches still responds, and its batch support is checked again', async () => {
    const endpoint = serve(good)
    const { ask, endpoints } = open([endpoint.url])
    await findBatches(endpoints, log)
    endpoint.reply = noBatches
    expect(await Promise.all([ask(chainId), ask(chainId)])).toEqual(['0x279f', '0x279f'])
    expect(endpoints.all[0]!.takesBatches).toBeUndefined()
  })

  const [one, two] = [
    { id: 1, result: '0x1' },
    { id: 2, result: '0x1' },
  ]
  test.each([
    ['both answers', [two, one], true],
    ['one of two', [one], false],
    ['the same twice', [one, one], false],
    ['an error for each', [one, { id: 2, error: { code: -32600, message: 'no' } }], false],
    ['an error for all', { error: { code: -32600, message: 'batches are not allowed' } }, false],
    ['a rate limit', { error: { code: -32005, message: 'rate limit exceeded' } }, undefined],
    ['nothing', null, false],
  ])('%s', (_what, body, verdict) => {
    expect(verdictOn(body, 2)).toBe(verdict)
  })
})

test('calls are counted per block, and eth_call separately', async () => {
  let head = 0
  const endpoint = serve((asked) => {
    const { id, method } = asked as Call
    const block = { ...header, number: `0x${head.toString(16)}` }
    return Response.json({ id, result: method === 'eth_getBlockByNumber' ? block : '0x01' })
  })
  const { endpoints } = open([endpoint.url])
  const reader = openChainReader({ endpoints, chainId: 10_143 })
  expect(endpoints.figures().perBlock).toEqual({ requests: null, ethCalls: null, overhead: null })
  for (head of [100, 110, 90]) {
    await reader.getBlock({ blockTag: 'finalized' })
    await reader.request({ method: 'eth_call', params: [{}, 'latest'] })
  }
  expect(endpoints.figures().perBlock).toEqual({ requests: 0.2, ethCalls: 0.1, overhead: 0.2 })
  expect(endpoints.figures().endpoints).toEqual({
    [new URL(endpoint.url).host]: {
      requests: 6,
      ethCalls: 3,
      tooMany: 0,
      waited: 0,
      batches: null,
    },
  })
})

test('calls per block are counted again ten seconds after one endpoint reported a block far too high', () => {
  let now = 0
  const counter = openCallsPerBlock(() => now)
  const atBlock = (head: number) => {
    now += 1_000
    counter.count({ requests: 4, ethCalls: 2, overhead: 1 })
    counter.sawHead(head)
  }
  for (const head of [100, 102, 999_999_999]) atBlock(head)
  for (let head = 104; head <= 130; head += 2) atBlock(head)
  expect(counter.read()).toEqual({ requests: 2, ethCalls: 1, overhead: 0.5 })
})
