import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mainnetEndpoints, mainnetValues } from '#infra/configuration/mainnet'
import { testnetValues } from '#infra/configuration/testnet'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { type RpcFaults, type WrongAnswer, wrongAnswers } from '#infra/sandbox/rpc-proxy/faults'
import { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { pause } from '#platform/deadline'
import { fields as relayerFields } from '../../services/chain-relayer/config'
import { fields as readerFields } from '../../services/indexer-reader/config'
import { type AnvilProcess, startAnvil } from '../support/engines/anvil'
import { beginPaths, expectOnceEach, flowsEnding, pathsCostMicro, topUp } from '../support/flows'
import { verifiedUser, verifiedUsers } from '../support/people'
import { quickChecks } from '../support/settings'
import { ownStack } from '../support/stack'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { servesTruth } from '../support/verify'

/** Limits of a public endpoint per caller, plus a margin. */
const allowed = { requestsPerSecondMax: 25, ethCallsPerSecondMax: 15, takesBatches: false }

/**
 * Most walks. If a process stops for a second, paced calls are sent at once; this does not happen in every walk, but
 * without pacing it would.
 */
const walksMax = 3

const usual = (fields: Readonly<Record<string, { fallback?: string }>>) => ({
  POLL_MS: testnetValues.get('POLL_MS')!,
  ...Object.fromEntries(
    ['RPC_REQUESTS_PER_SECOND', 'RPC_ETH_CALLS_PER_SECOND'].flatMap((name) =>
      fields[name]?.fallback ? [[name, fields[name].fallback]] : [],
    ),
  ),
})

/** Opens a stack on one chain with several endpoints, the best first. */
async function openStack(behaviours: readonly Partial<RpcFaults>[], values: Readonly<Record<string, string>> = {}) {
  const anvil: AnvilProcess = await startAnvil([
    '--block-time',
    '0.3',
    '--slots-in-an-epoch',
    '1',
    '--block-base-fee-per-gas',
    '100000000000',
  ])
  const endpoints = behaviours.map((faults) => openRpcProxy({ target: anvil.rpcUrl, faults }))
  const RPC_URLS = endpoints.map(({ url }) => url).join(',')
  const stack = await ownStack({
    own: { RPC_URL: anvil.rpcUrl },
    env: {
      ...quickChecks,
      'chain-relayer': { ...usual(relayerFields), ...values, RPC_URLS },
      'indexer-reader': { ...usual(readerFields), ...values, RPC_URLS },
    },
  })
  const close = async () => {
    await stack[Symbol.asyncDispose]()
    for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]()
    await anvil.close()
  }
  return { stack, endpoints, close }
}

type Opened = Awaited<ReturnType<typeof openStack>>

async function throughEverything(stack: Stack, count: number) {
  const people = await verifiedUsers(stack, count, { ausdMicro: pathsCostMicro })
  const flows = (await Promise.all(people.map((person) => beginPaths(stack, person)))).flat()
  await flowsEnding(flows)
  await expectOnceEach(stack, flows)
  return people
}

const hostOf = ({ url }: RpcProxy) => new URL(url).host

describe('with one public endpoint that limits requests and refuses batches', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await openStack([allowed])
  })
  afterAll(() => opened?.close())

  test('every path ends without a rate limit error', async () => {
    const { stack, endpoints } = opened
    const { journal } = endpoints[0]!
    let before = 0
    for (let walk = 1; ; walk++) {
      await throughEverything(stack, 4)
      if (journal.tooMany === before || walk === walksMax) break
      before = journal.tooMany
    }
    expect(journal.tooMany).toBe(before)
  })

  test.each(['chain-relayer', 'indexer-reader'])(
    'the metrics have the number of calls of %s, for each block and in all',
    async (service) => {
      const { stack, endpoints } = opened
      const perBlock = { service, of: 'eth_calls' }
      const samples = await waitUntil('calls per block', async () => {
        const read = await scrape(stack)
        return valueIn(read, 'ausd_rpc_per_block', perBlock) !== undefined && read
      })
      expect(valueIn(samples, 'ausd_rpc_per_block', perBlock)).toBeGreaterThanOrEqual(0)
      const one = { service, endpoint: hostOf(endpoints[0]!) }
      expect(valueIn(samples, 'ausd_rpc_requests_total', one)).toBeGreaterThan(0)
      const refused = valueIn(samples, 'ausd_rpc_rate_limited_total', one)
      expect(refused).toBeLessThanOrEqual(endpoints[0]!.journal.tooMany)
      expect(valueIn(samples, 'ausd_rpc_takes_batches', one)).toBe(0)
    },
  )
})

describe("with the public endpoints of Monad's main net and the values for them", () => {
  let opened: Opened
  beforeAll(async () => {
    const values = Object.fromEntries([...mainnetValues].filter(([name]) => name.endsWith('_PER_SECOND')))
    const limits = mainnetEndpoints.map(({ requestsPerSecond, batchMax }) => ({
      requestsPerSecondMax: requestsPerSecond,
      takesBatches: batchMax > 1,
    }))
    opened = await openStack(limits, values)
  })
  afterAll(() => opened?.close())

  test('every path ends without a rate limit error at any of them', async () => {
    const { stack, endpoints } = opened
    const tooMany = () => endpoints.map(({ journal }) => journal.tooMany)
    let before = tooMany()
    for (let walk = 1; ; walk++) {
      await throughEverything(stack, 2)
      if (Bun.deepEquals(tooMany(), before) || walk === walksMax) break
      before = tooMany()
    }
    expect(tooMany()).toEqual(before)
  })
})

describe('with one endpoint that never responds, one at its limit, and one that lags behind', () => {
  let opened: Opened
  beforeAll(async () => {
    const used = { requestsPerSecondMax: 4 }
    opened = await openStack([{ hangRate: 1 }, used, { headLagBlocks: 5 }])
  })
  afterAll(() => opened?.close())

  test('every path ends, and the record matches the chain', async () => {
    const { stack, endpoints } = opened
    const [person] = await throughEverything(stack, 1)
    await servesTruth(stack, person!.wallet)
    for (const { journal } of endpoints) expect(journal.requests).toBeGreaterThan(0)
  })

  test('the metrics show which endpoint is at its limit and which accept batches', async () => {
    const { stack, endpoints } = opened
    const [silent, used, lagging] = endpoints as [RpcProxy, RpcProxy, RpcProxy]
    const isUp = { service: 'chain-relayer' }
    // A late service may be missing from one scrape and present in the next.
    const samples = await waitUntil('the figures of the relayer', async () => {
      const read = await scrape(stack)
      return valueIn(read, 'ausd_figures_up', isUp) === 1 && read
    })
    const shown = (name: string, proxy: RpcProxy) =>
      valueIn(samples, name, { service: 'chain-relayer', endpoint: hostOf(proxy) })
    expect(shown('ausd_rpc_rate_limited_total', used)).toBeGreaterThan(0)
    expect(shown('ausd_rpc_takes_batches', lagging)).toBe(1)
    expect(shown('ausd_rpc_takes_batches', silent)).toBeUndefined()
  })

  describe('later, when the last of them serves nothing and the first', () => {
    beforeAll(() => {
      const [first, second, last] = opened.endpoints as [RpcProxy, RpcProxy, RpcProxy]
      for (const endpoint of [first, second]) endpoint.setFaults({})
      last.setFaults({ disconnectRate: 1 })
    })

    test.each<[string, Partial<RpcFaults>]>([
      ['stands still', { headStandsStill: true }],
      ['has no finalized block', { finalizedIsNull: true }],
      ['serves receipts of discarded blocks', { discardedBlockRate: 0.5 }],
      ['serves another chain under the same id after an outage', { otherGenesis: true }],
    ])('%s, every path ends, and the record matches the chain', async (_, faults) => {
      const { stack, endpoints } = opened
      const [first] = endpoints as [RpcProxy, RpcProxy]
      first.setFaults(faults)
      if (faults.otherGenesis) await isTriedAgain(first)
      const [person] = await throughEverything(stack, 1)
      await servesTruth(stack, person!.wallet)
      first.setFaults({})
      await throughEverything(stack, 1)
    })

    /** Cuts the connections of an endpoint until each service has noticed. */
    async function isTriedAgain(endpoint: RpcProxy) {
      const before = endpoint.journal.requests
      endpoint.setFaults({ disconnectRate: 1 })
      await waitUntil('requests that are cut', () => endpoint.journal.requests > before + 20)
      endpoint.setFaults({ disconnectRate: 0 })
    }
  })
})

describe('with a good second endpoint and a first one that answers every call of one method wrongly', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await openStack([{}, {}])
  })
  afterAll(() => opened?.close())

  const methods = [
    'eth_getBlockByNumber',
    'eth_getTransactionCount',
    'eth_getTransactionReceipt',
    'eth_call',
    'eth_getLogs',
    'eth_sendRawTransaction',
  ]
  const answers = Object.keys(wrongAnswers) as WrongAnswer[]

  /** What a cell of the table showed: calls that were answered wrongly, the last of them, and requests that got a 5xx. */
  const rows: string[] = []
  afterAll(() => {
    const head = [
      '| method | answer | wrong answers | left after ms | ended after ms | requests | refused |',
      '|---|---|--:|--:|--:|--:|--:|',
    ]
    console.log([...head, ...rows].join('\n'))
  })

  test.each(methods)(
    '%s: no request is refused, each top-up is credited once, the record is right, and the books balance',
    async (method) => {
      const { stack, endpoints } = opened
      const [first] = endpoints as [RpcProxy, RpcProxy]
      const person = await verifiedUser(stack)
      for (const wrongAnswer of answers) {
        const [startedMs, before] = [performance.now(), first.journal.calls[method] ?? 0]
        const since = () => Math.round(performance.now() - startedMs)
        const seen = { wrong: 0, leftMs: 0, requests: 0, refused: 0 }
        first.setFaults({ wrongMethod: method, wrongAnswer })
        const stop = new AbortController()
        const looking = (async () => {
          while (!stop.signal.aborted) {
            const wrong = (first.journal.calls[method] ?? 0) - before
            if (wrong > seen.wrong) Object.assign(seen, { wrong, leftMs: since() })
            seen.requests++
            if ((await person.get('/me')).status >= 500) seen.refused++
            await pause(200, stop.signal)
          }
        })()
        const flows = [await topUp(stack, person), await topUp(stack, person)]
        await flowsEnding(flows)
        await expectOnceEach(stack, flows)
        const endedMs = since()
        await servesTruth(stack, person.wallet)
        const rpcUrls = endpoints.map(({ url }) => url)
        const breaks = await checkBooks({ ...placeOf(stack.info), rpcUrls }, stack.adminUrl)
        stop.abort()
        await looking
        first.setFaults({})
        const { wrong, leftMs, requests, refused } = seen
        rows.push(`| ${method} | ${wrongAnswer} | ${wrong} | ${leftMs} | ${endedMs} | ${requests} | ${refused} |`)
        expect([wrongAnswer, refused, breaks]).toEqual([wrongAnswer, 0, []])
      }
    },
  )
})
