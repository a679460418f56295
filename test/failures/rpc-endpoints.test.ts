import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testnetValues } from '#infra/configuration/testnet'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
import { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { fields as relayerFields } from '../../services/chain-relayer/config'
import { fields as readerFields } from '../../services/indexer-reader/config'
import { type AnvilProcess, startAnvil } from '../support/anvil'
import { beginPaths, expectOnceEach, pathsCostMicro, pathsEnding } from '../support/money-paths'
import { verifiedUser } from '../support/people'
import { ownStack, quickChecks } from '../support/stack'
import { servesTruth } from '../support/verify'

/** What a public endpoint of the test chain allows one caller, and a little for uneven delivery. */
const allowed = { requestsPerSecondMax: 25, ethCallsPerSecondMax: 15, takesBatches: false }

/** As the services are set for a public chain, not for the local one. */
const usual = (fields: Readonly<Record<string, { fallback?: string }>>) => ({
  POLL_MS: testnetValues.get('POLL_MS')!,
  ...Object.fromEntries(
    ['RPC_REQUESTS_PER_SECOND', 'RPC_ETH_CALLS_PER_SECOND'].flatMap((name) =>
      fields[name]?.fallback ? [[name, fields[name].fallback]] : [],
    ),
  ),
})

/** A stack at one chain by endpoints that behave as told, the best one first. */
async function openStack(behaviours: readonly Partial<RpcFaults>[]) {
  const anvil: AnvilProcess = await startAnvil([
    ...['--block-time', '0.3', '--slots-in-an-epoch', '1'],
    ...['--block-base-fee-per-gas', '100000000000'],
  ])
  const endpoints = behaviours.map((faults) => openRpcProxy({ target: anvil.rpcUrl, faults }))
  const RPC_URLS = endpoints.map(({ url }) => url).join(',')
  const stack = await ownStack({
    own: { RPC_URL: anvil.rpcUrl },
    env: {
      ...quickChecks,
      'chain-relayer': { ...usual(relayerFields), RPC_URLS },
      'indexer-reader': { ...usual(readerFields), RPC_URLS },
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

/** A top-up, a cash-out and a send of each of some people, all at once. */
async function throughEverything(stack: Stack, count: number) {
  const people = await Promise.all(
    Array.from({ length: count }, () => verifiedUser(stack, { ausdMicro: pathsCostMicro })),
  )
  const orders = await Promise.all(people.map((person) => beginPaths(stack, person)))
  await Promise.all(people.map((person, at) => pathsEnding(person, orders[at]!, 90_000)))
  for (const [at, person] of people.entries()) await expectOnceEach(stack, person, orders[at]!)
  return people
}

/** What the gateway's metrics say of a service's endpoints, by the name of the figure. */
async function rpcFigures(stack: Stack, service: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${stack.info.ops.gateway}/metrics`)).text()
  const form = new RegExp(`service="${service}".*figure="rpc_([^"]+)"} (.+)$`)
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = form.exec(line) ?? []
      return name === undefined ? [] : [[name, Number(value)] as const]
    }),
  )
}

const figureOf = ({ url }: RpcProxy, name: string) =>
  `endpoints_${new URL(url).host.replace(/\W/g, '_')}_${name}`

describe('at one public endpoint that counts requests and refuses batches', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await openStack([allowed])
  }, 90_000)
  afterAll(() => opened?.close())

  test('every path ends, and nothing is asked too often', async () => {
    const { stack, endpoints } = opened
    await throughEverything(stack, 4)
    expect(endpoints[0]!.journal.tooMany).toBe(0)
  }, 120_000)

  test.each(['chain-relayer', 'indexer-reader'])(
    'the metrics say how often %s asks it, for each block and in all',
    async (service) => {
      const { stack, endpoints } = opened
      const figures = await waitUntil('calls per block', async () => {
        const read = await rpcFigures(stack, service)
        return read.has('perBlock_requests') && read
      })
      expect(figures.get('perBlock_ethCalls')).toBeGreaterThanOrEqual(0)
      expect(figures.get(figureOf(endpoints[0]!, 'requests'))).toBeGreaterThan(0)
      expect(figures.get(figureOf(endpoints[0]!, 'tooMany'))).toBe(0)
      expect(figures.get(figureOf(endpoints[0]!, 'batches'))).toBe(0)
    },
  )
})

describe('with one endpoint that never answers, one that is used up, and one that lags behind', () => {
  let opened: Opened
  beforeAll(async () => {
    const used = { requestsPerSecondMax: 4 }
    opened = await openStack([{ hangRate: 1 }, used, { headLagBlocks: 5 }])
  }, 90_000)
  afterAll(() => opened?.close())

  test('every path ends, and the record is what the chain says', async () => {
    const { stack, endpoints } = opened
    const [person] = await throughEverything(stack, 1)
    await servesTruth(stack, person!.wallet, 60_000)
    for (const { journal } of endpoints) expect(journal.requests).toBeGreaterThan(0)
  }, 180_000)

  test('the metrics say which one is used up, and who takes batches', async () => {
    const { stack, endpoints } = opened
    const [silent, used, lagging] = endpoints as [RpcProxy, RpcProxy, RpcProxy]
    const figures = await rpcFigures(stack, 'chain-relayer')
    expect(figures.get(figureOf(used, 'tooMany'))).toBeGreaterThan(0)
    expect(figures.get(figureOf(lagging, 'batches'))).toBe(1)
    expect(figures.has(figureOf(silent, 'batches'))).toBe(false)
  })
})
