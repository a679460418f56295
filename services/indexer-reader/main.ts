import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { openServiceEndpoints } from '#shared/chain/open'
import { awaitChain, type ExpectedChain } from './chain/identity'
import { fields } from './config'
import { openContext } from './context'
import { answerDebt } from './debt'
import { answerDue } from './due'
import { startFollowing } from './follow'
import { metricsOf } from './metrics'
import { answerRecord, readStats } from './record'
import { answerStatement } from './statement'

await runService('indexer-reader', fields, async (config, runtime) => {
  const { log, fatal } = runtime
  const { chainId, genesisHash, creditLineAddress, deployBlock } = config
  const identity: ExpectedChain = { chainId, genesisHash, contract: creditLineAddress }
  const { rpcRequestsPerSecond } = config
  const ours = { chainId, genesisHash, contracts: [creditLineAddress], creditLine: creditLineAddress }
  const asked = { ...config, rpcEthCallsPerSecond: rpcRequestsPerSecond }
  await using rpc = await openServiceEndpoints(asked, runtime, ours)
  if (!(await awaitChain(rpc, identity, runtime))) return

  await using database = openServiceDatabase('indexer-reader', config, runtime)
  await using time = await openDatabaseClock(database, log)
  await using bus = await openServiceBus('indexer-reader', config, runtime)
  const { logsRangeMax, pollMs, lagMaxMs } = config
  const context = openContext({
    database,
    rpc,
    identity,
    deployBlock,
    logsRangeMax,
    pollMs,
    lagMaxMs,
    clock: time.clock,
    log,
  })
  await using _following = startFollowing(context, (error) => {
    log.fatal({ err: error }, 'stored projection belongs to another contract')
    fatal()
  })
  await using _served = await serve({
    bus,
    name: 'indexer-reader',
    description: 'credit history of wallets, from finalized events',
    answers: [answerRecord, answerDebt, answerDue, answerStatement].map((answer) => answer(context)),
    stats: () => readStats(context),
    readings: metricsOf,
    database,
    log,
  })
  log.info('service ready')
  await runUntilStopped(config, runtime)
})
