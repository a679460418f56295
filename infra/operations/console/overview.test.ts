import { expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import type { OnBus } from '../health/bus'
import type { SystemFacts, Unread } from '../health/facts'
import { type OverviewFacts, openOverview } from './overview'

const log = openLog('suite', 'silent')
const floors = { lowMicro: 0n, lowMinor: 0n, laneWei: 0n, copies: 1 }
const copies = { gateway: 1, pricing: 1, payments: 0, payouts: 1 }
const others = { 'chain-relayer': 1, 'indexer-reader': 1, operations: 1 }
const onBus: OnBus = {
  copies: { ...copies, ...others },
  down: [],
  lags: [],
  missing: [],
  heartbeats: [],
  rates: [],
  figures: { pricing: { 'USD/IDR': { rate: '16250' } } },
}

function overviewOf(facts: SystemFacts | Unread) {
  const count = { read: 0 }
  const overview = openOverview({
    readFacts: async () => {
      count.read += 1
      return facts
    },
    readMoney: () => Promise.reject(new Error('no rows here')),
    floors,
    clock: Date.now,
    log,
  })
  const told = () =>
    new Promise<OverviewFacts>((resolve) => {
      overview.watch(resolve)
    })
  return { overview, count, told }
}

test('the overview names silent services and the parts that it could not read', async () => {
  const { overview, told } = overviewOf({ unread: 'no rows here', bus: { known: onBus } })
  const seen = await told()
  await overview[Symbol.asyncDispose]()
  expect(seen.needs).toEqual(['payments does not respond: see ServiceDown'])
  expect(seen.unread).toEqual(['cannot read the rows: no rows here: see MetricsMissing'])
  expect(seen.money).toBeUndefined()
  expect(seen.services.find(({ name }) => name === 'pricing')).toEqual({
    name: 'pricing',
    copies: 1,
    figures: { 'USD/IDR': { rate: '16250' } },
  })
})

test('the overview blames the bus, not the services, when the bus cannot be read', async () => {
  const { overview, told } = overviewOf({ unread: 'no', bus: { unknown: 'refused' } })
  const seen = await told()
  await overview[Symbol.asyncDispose]()
  expect(seen.needs).toEqual([])
  expect(seen.unread).toContain('cannot read the bus: refused: see ServicesUnreachable')
  expect(new Set(seen.services.map((one) => one.copies))).toEqual(new Set([null]))
})

test('the overview reads once for all viewers, and never without a viewer', async () => {
  const { overview, count } = overviewOf({ unread: 'no', bus: { known: onBus } })
  expect(count.read).toBe(0)
  const ends: (() => void)[] = []
  const told = () =>
    new Promise<void>((resolve) => {
      ends.push(overview.watch(() => resolve()))
    })
  await Promise.all([told(), told(), told()])
  for (const end of ends) end()
  await told() // The second reading comes from the cache.
  expect(count.read).toBe(1)
  await overview[Symbol.asyncDispose]()
})
