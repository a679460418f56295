import { consume } from '#platform/bus/consume'
import { countCopies } from '#platform/bus/instances'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { failpoint } from '#platform/failpoint'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { openServiceEndpoints } from '#shared/chain/open'
import { startAlarms } from './alarms'
import { awaitChain, identityOf } from './chain/boot'
import { openStrangerSignatures } from './chain/contract-signature'
import { openNode, openNodeForQuestions } from './chain/node'
import { openGathering } from './chain/read-batcher'
import { fields } from './config'
import { type Context, newProcess } from './context'
import { openKeys } from './keys/keys'
import { policyOf } from './keys/policy'
import { startLookUps } from './operations/authorization-search'
import { startWatching } from './operations/late-takes'
import { reactions } from './operations/order'
import { answersOf } from './questions/answers'
import { figuresOf } from './questions/metrics'
import { accountReader } from './questions/reads'
import { startRounds } from './relay-loop'
import { messaging } from './schema.store'
import { startGivingBack } from './unsolicited-deposits/accept'

const name = 'chain-relayer'

await runService(name, fields, async ({ laneKeys, treasuryKey, ...config }, runtime) => {
  const { log, fatal } = runtime
  const policy = policyOf(config)
  const { keys, treasury } = openKeys({ laneKeys, treasuryKey }, policy)
  const { ausdAddress: ausd, creditLineAddress: creditLine, chainId } = config
  await using endpoints = await openServiceEndpoints(config, runtime, identityOf(config))
  const node = openNode({ endpoints, chainId })
  const expected = { ...config, ausd, creditLine, treasury, lanes: keys }
  const domain = await awaitChain(node, expected, runtime)
  if (!domain) return
  await using database = openServiceDatabase(name, config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  await using bus = await openServiceBus(name, config, runtime)
  await using copies = await countCopies(bus, name, log)
  await using outbox = relayOutbox({ bus, database, outbox: messaging.outbox, log })
  const contracts = { ausd, creditLine, domain }
  const context: Context = {
    database,
    node,
    contracts,
    treasury,
    keys,
    policy,
    settings: config,
    clock,
    log,
    copies,
    ...newProcess(log, clock),
    account: accountReader(node.reader, contracts),
    gather: async () => {},
    isAccepted: openStrangerSignatures({ endpoints, ...config }),
    poke: outbox.poke,
    wake: () => rounds.poke(),
  }
  await using rounds = startRounds(context, config.pollMs)
  await using _alarms = startAlarms(context)
  await using _lookUps = startLookUps(context)
  await using _watched = startWatching(context, config.watchMs)
  await using _givebacks = startGivingBack(context)

  const asked = openNodeForQuestions({ endpoints, chainId })
  const account = accountReader(asked.reader, contracts)
  const gather = openGathering(config, clock)
  const answers = answersOf({ ...context, node: asked, account, gather })
  const description = `executes commands on chain ${chainId}, exactly once`
  const told = { description, ...figuresOf(context, endpoints) }
  const stored = () => {
    failpoint('chain-relayer:operation-stored')
    context.wake()
    outbox.poke()
  }
  const handling = { bus, database, messaging, reactions, poke: stored, onFatal: fatal, log }
  await using _served = await serve({ ...handling, name, answers, ...told })
  await using _consumed = consume({ consumer: name, ...handling })
  log.info({ lanes: keys.length }, 'service ready')
  await runUntilStopped(config, runtime)
})
