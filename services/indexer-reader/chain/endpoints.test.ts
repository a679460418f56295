import { describe, expect, test } from 'bun:test'
import { HttpRequestError } from 'viem'
import type { Database } from '#platform/db/open'
import { openLog } from '#platform/log'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { waitUntil } from '#test/support/wait'
import { openContext } from '../context'
import { plan } from '../read'
import { afterRefusal, afterSuccess, type Endpoint, openEndpoints, type Range, startRange } from './endpoints'
import { kindOf, RpcFault } from './rpc'

const range = (blocks: number, cap = 1_000, capUntilMs = 0): Range => ({
  blocks,
  cap,
  capUntilMs,
  max: 1_000,
})

describe('after a success, the next range', () => {
  test.each([
    ['grows by a tenth', range(100), 0, 110],
    ['grows from one block', range(1), 0, 2],
    ['stops at the most we ask for', range(1_000), 0, 1_000],
    ['stops at a cap the endpoint named', range(95, 99, 2_000), 0, 99],
    ['forgets the cap in time', range(99, 99, 500), 0, 109],
    ['stays while answers are large', range(100), 800, 100],
    ['shrinks when answers are too large', range(100), 9_000, 50],
    ['never vanishes', range(1), 9_000, 1],
  ])('%s', (_what, before, logs, blocks) => {
    expect(afterSuccess(before, logs, 1_000).blocks).toBe(blocks)
  })
})

describe('after a refusal, the next range', () => {
  const refused = (message: string) => ({ kind: 'range', message })
  test.each([
    ['is half', range(100), 100, refused('block range too large'), 50, 99],
    ['is half of the tried one', range(100), 40, refused('too wide'), 20, 39],
    ['is never nothing', range(1), 1, refused('too wide'), 1, 1],
    ["is the endpoint's own limit", range(1_000), 1_000, refused('eth_getLogs is limited to a 100 range'), 100, 100],
    ['is half after a time-out, which sets no cap', range(100), 100, { kind: 'late', message: '' }, 50, 1_000],
  ])('%s', (_what, before, tried, fault, blocks, cap) => {
    expect(afterRefusal(before, tried, fault, 1_000)).toMatchObject({ blocks, cap })
  })

  test('shrinks to one block at worst, and grows again afterwards', () => {
    let now = startRange(100)
    for (let times = 0; times < 10; times++) now = afterRefusal(now, now.blocks, refused('no'), 0)
    expect(now.blocks).toBe(1)
    for (let times = 0; times < 80; times++) now = afterSuccess(now, 0, 61_000)
    expect(now.blocks).toBe(100)
  })
})

const logsCall = { method: 'eth_getLogs', params: [{}] }
const headCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }

test.each([
  [413, logsCall, 'range'],
  [413, headCall, 'broken'],
  [504, logsCall, 'late'],
  [408, headCall, 'late'],
  [502, logsCall, 'broken'],
] as const)('HTTP %d to %p is the fault "%s"', (status, call, kind) => {
  expect(kindOf(call, new HttpRequestError({ url: 'http://127.0.0.1', status }))).toBe(kind)
})

describe('a plan of spans', () => {
  test.each([
    [5, 4, 100, []],
    [5, 5, 100, [[5, 5]]],
    [
      5,
      300,
      100,
      [
        [5, 104],
        [105, 204],
      ],
    ],
    [
      5,
      150,
      100,
      [
        [5, 104],
        [105, 150],
      ],
    ],
  ])('from %d to %d by %d blocks', (first, head, blocks, spans) => {
    expect(plan(first, head, blocks)).toEqual(spans as [number, number][])
  })
})

describe('with several endpoints', () => {
  const named = (host: string): Endpoint => {
    let restsUntilMs = 0
    const rest = (ms: number) => {
      restsUntilMs = ms
    }
    return {
      host,
      range: () => range(10),
      restsUntilMs: () => restsUntilMs,
      rest,
      isBehind: () => false,
    } as unknown as Endpoint
  }
  const open = () => {
    const all = ['a', 'b', 'c'].map(named)
    let now = 0
    const clock = () => (now += 0.001) // The time has fractions, as that of the steady clock.
    return { all, endpoints: openEndpoints(all, clock) }
  }

  test('the first of those that rest no longer is used', () => {
    expect(open().endpoints.current().host).toBe('a')
  })

  test.each(['late', 'busy', 'broken', 'behind'] as const)('one whose fault is "%s" gives way to the next', (kind) => {
    const { all, endpoints } = open()
    endpoints.blame(all[0]!, new RpcFault(kind, 'no'))
    expect(endpoints.current().host).toBe('b')
  })

  test('one that rested is used again in time although the clock was set back', async () => {
    let now = Date.now()
    const { endpoints } = openContext({
      rpc: openRpcEndpoints({ rpcUrls: ['http://127.0.0.1:1', 'http://127.0.0.2:1'] }),
      identity: { chainId: 1, genesisHash: 'unchecked', contract: '0x' },
      deployBlock: 0,
      logsRangeMax: 1,
      pollMs: 1,
      lagMaxMs: 1,
      clock: () => now,
      log: openLog('test', 'silent'),
      database: {} as Database,
    })
    const first = endpoints.current()
    endpoints.blame(first, new RpcFault('behind', 'no'))
    now -= 7_200_000
    endpoints.blame(endpoints.current(), new RpcFault('late', 'no'))
    await waitUntil('the first', () => endpoints.current() === first)
  })

  test('the one that rests least is used when all others rest', () => {
    const { all, endpoints } = open()
    for (const one of all.slice(0, 2)) endpoints.blame(one, new RpcFault('late', 'no'))
    expect(endpoints.current().host).toBe('c')
  })
})
