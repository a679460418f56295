import { expect, test } from 'bun:test'
import { startScratchDatabase } from '#test/support/scratch-postgres'
import { openContext } from './context'
import { metricsOf } from './metrics'
import { readStats } from './record'
import { openTestEndpoints, testLog } from './test-support'

test('a record that was never served lags since the start, so that its alert can fire', async () => {
  await using scratch = await startScratchDatabase('indexer-reader')
  let now = Date.now()
  const context = openContext({
    database: scratch.database,
    rpc: openTestEndpoints(['http://127.0.0.1:1']),
    identity: { chainId: 10_143, genesisHash: 'unchecked', contract: '0x00000000000000000000000000000000000c0de5' },
    deployBlock: 0,
    logsRangeMax: 100,
    pollMs: 1_000,
    lagMaxMs: 15_000,
    clock: () => now,
    log: testLog,
  })
  now += 90_000
  const lag = metricsOf(await readStats(context)).find(({ name }) => name === 'ausd_record_lag_seconds')
  expect(lag?.value).toBe(90)
})
