import { consume } from '#platform/bus/consume'
import { countInstances } from '#platform/bus/instances'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { serve } from '#platform/bus/serve'
import { openDatabaseClock } from '#platform/db/clock'
import { openServiceBus, openServiceDatabase, runService, runUntilStopped } from '#platform/service'
import { openServiceEndpoints } from '#shared/chain/open'
import { guardCommands } from '#shared/operators/guard'
import { operatorRules } from '#shared/operators/operators'
import { startAlarms } from './alarms'
import { assemble, messagesOf, startLoops } from './assemble'
import { awaitChain, identityOf } from './chain/await-chain'
import { openStrangerSignatures } from './chain/contract-signature'
import { openNode, openNodeForQuestions } from './chain/node'
import { openReadBatcher } from './chain/read-batcher'
import { fields, readsTogetherMs } from './config'
import { newProcess } from './context'
import { openKeys } from './keys/keys'
import { policyOf } from './keys/policy'
import { startEndingUndecided } from './operations/undecided'
import { answersOf } from './questions/answers'
import { metricsOf } from './questions/metrics'
import { accountReader } from './questions/reads'
import { approvals, messaging } from './schema.store'
import { startGivebacks } from './unsolicited-deposits/giveback'

const name = 'chain-relayer'

await runService(name, fields, async ({ laneKeys, treasuryKey, ...config }, runtime) => {
  const { log, fatal } = runtime
  const policy = policyOf(config)
  const { keys, treasury } = openKeys({ laneKeys, treasuryKey }, policy)
  const { ausdAddress: ausd, creditLineAddress: creditLine, chainId } = config
  await using endpoints = await openServiceEndpoints(config, runtime, identityOf(config))
  const node = openNode({ endpoints, chainId })
  const expected = { ...config, ausd, creditLine, treasury, lanes: keys }
  // A wrong chain ends the process also while nothing else responds.
  const inspecting = awaitChain(node, expected, runtime)
  await using database = openServiceDatabase(name, config, runtime)
  await using time = await openDatabaseClock(database, log)
  const { clock } = time
  await using bus = await openServiceBus(name, config, runtime)
  await using copies = await countInstances(bus, name, log)
  await using outbox = relayOutbox({ bus, database, outbox: messaging.outbox, log })
  let wake = () => {}
  const messages = { ...messagesOf({ database, log, poke: outbox.poke, wake: () => wake() }), bus, onFatal: fatal }
  // Orders are stored, and transfers end in time, also while the chain is away.
  await using _consumed = consume(messages)
  await using ending = startEndingUndecided({ ...newProcess(log, clock), database, log, clock, poke: outbox.poke })
  const domain = await inspecting
  if (!domain) return
  await ending[Symbol.asyncDispose]()
  const contracts = { ausd, creditLine, domain }
  const context = assemble(config, {
    database,
    node,
    contracts,
    keys,
    treasury,
    account: accountReader(node.reader, contracts),
    isAccepted: openStrangerSignatures({ endpoints, ...config }),
    copies,
    log,
    clock,
    poke: outbox.poke,
    wake: () => wake(),
  })
  await using loops = startLoops(context, config)
  wake = loops.poke
  await using _alarms = startAlarms(context)
  await using _givebacks = startGivebacks(context)

  const asked = openNodeForQuestions({ endpoints, chainId })
  const account = accountReader(asked.reader, contracts)
  const readTurn = openReadBatcher({ readsEveryMs: config.readsEveryMs, readsTogetherMs }, clock)
  const answers = answersOf({ ...context, node: asked, account, readTurn: readTurn })
  const description = `executes commands on chain ${chainId}, exactly once`
  const statistics = { description, ...metricsOf(context, endpoints) }
  const commands = guardCommands({ ...operatorRules(config), approvals: { database, table: approvals }, clock })
  await using _served = await serve({ ...messages, name, answers, commands, ...statistics })
  log.info({ lanes: keys.length }, 'service ready')
  await runUntilStopped(config, runtime)
})
