import { serve } from '#shared/bus/serve'
import { systemClock } from '#shared/clock'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { awaitChain } from './boot.ts'
import { fields } from './config.ts'
import { openReader } from './reader.ts'
import { readStats, recordResponder } from './record.responder.ts'

await runService('indexer-reader', fields, async (config, runtime) => {
  const { log, signal, stuck } = runtime
  if (!(await awaitChain(config, runtime))) return

  await using database = openServiceDatabase('indexer-reader', config, runtime)
  await using bus = await openServiceBus('indexer-reader', config, runtime)
  const reader = openReader({
    database,
    rpcUrls: config.rpcUrls,
    identity: {
      chainId: config.chainId,
      genesisHash: config.genesisHash,
      contract: config.creditLineAddress,
    },
    deployBlock: config.deployBlock,
    logsRangeMax: config.logsRangeMax,
    pollMs: config.pollMs,
    clock: systemClock,
    log,
  })
  const reading = reader.run(signal).catch((error) => {
    log.fatal({ err: error }, 'reading stopped')
    stuck()
  })
  const { origin, figures } = reader
  const asked = { database, origin, clock: systemClock, lagMaxMs: config.lagMaxMs }
  await using _served = await serve({
    bus,
    name: 'indexer-reader',
    description: 'The credit history of wallets, from finalized events',
    answers: [recordResponder(asked)],
    stats: () => readStats({ ...asked, figures }),
    log,
  })
  log.info('service ready')
  await untilStopped(signal)
  await reading
})
