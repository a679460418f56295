import { randomUUID } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { consume } from '#shared/bus/consume'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { serve } from '#shared/bus/serve'
import { systemClock } from '#shared/clock'
import { failpoint } from '#shared/failpoint'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { accountReader } from './account'
import { readAnswers } from './account.responder'
import { activityAnswers } from './activity.responder'
import { awaitChain } from './boot'
import { fields } from './config'
import { openNode } from './node'
import { operationReactions } from './operation.reactions'
import type { Desk } from './questions'
import { emptyMemory, type Relayer } from './relayer'
import { startRounds } from './rounds'
import { mail } from './schema.store'
import { sendAnswers } from './send.responder'
import { relayerStats } from './stats'

const name = 'chain-relayer'

await runService(name, fields, async (config, runtime) => {
  const { log, signal, stuck } = runtime
  const keys = config.laneKeys.map((key) => privateKeyToAccount(key))
  const treasury = privateKeyToAccount(config.treasuryKey)
  const { ausdAddress: ausd, creditLineAddress: creditLine, chainId } = config
  const node = openNode(config)
  const expected = { ...config, ausd, creditLine, treasury, lanes: keys }
  const domain = await awaitChain(node, expected, runtime)
  if (!domain) return

  await using database = openServiceDatabase(name, config, runtime)
  await using bus = await openServiceBus(name, config, runtime)
  await using outbox = relayOutbox({ bus, database, outbox: mail.outbox, log })
  const { poke } = outbox
  const contracts = { ausd, creditLine, domain }
  const common = { database, node, contracts, clock: systemClock, log }
  const own = { treasury, keys, settings: config, holder: randomUUID(), memory: emptyMemory() }
  const relayer: Relayer = { ...common, ...own, poke }
  await using rounds = startRounds(relayer, config.pollMs)

  const account = accountReader(node.reader, contracts)
  const desk: Desk = { ...common, account, wake: rounds.wake }
  const answers = [...readAnswers(desk), ...sendAnswers(desk), ...activityAnswers(desk)]
  const stored = () => {
    failpoint('relayer:operation-stored')
    rounds.wake()
    poke()
  }
  const from = { stream: 'COMMANDS', consumer: name, reactions: operationReactions } as const
  const description = `puts commands on chain ${chainId}, exactly once`
  await using _served = await serve({
    bus,
    name,
    description,
    answers,
    stats: relayerStats(relayer),
    log,
  })
  await using _consumed = consume({
    ...from,
    bus,
    mailroom: mail,
    database,
    log,
    poke: stored,
    onStuck: stuck,
  })
  log.info({ lanes: keys.length }, 'service ready')
  await untilStopped(signal)
})
