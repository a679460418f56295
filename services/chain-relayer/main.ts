import { privateKeyToAccount } from 'viem/accounts'
import { consume } from '#shared/bus/consume'
import { relayOutbox } from '#shared/bus/outbox-relay'
import { serve } from '#shared/bus/serve'
import { systemClock } from '#shared/clock'
import { failpoint } from '#shared/failpoint'
import { openServiceBus, openServiceDatabase, runService, untilStopped } from '#shared/service'
import { accountReader } from './account'
import { answersOf } from './answers'
import { awaitChain } from './boot'
import { fields } from './config'
import { openNode } from './node'
import { operationReactions } from './operation.reactions'
import { newLife, type Relayer } from './relayer'
import { startRounds } from './rounds'
import { mail } from './schema.store'
import { relayerStats } from './stats'
import { startWatching } from './watch'

const name = 'chain-relayer'

await runService(name, fields, async (config, runtime) => {
  const { log, signal, stuck } = runtime
  const keys = config.laneKeys.map((key) => privateKeyToAccount(key))
  const treasury = privateKeyToAccount(config.treasuryKey)
  const { ausdAddress: ausd, creditLineAddress: creditLine } = config
  const node = openNode(config)
  const expected = { ...config, ausd, creditLine, treasury, lanes: keys }
  const domain = await awaitChain(node, expected, runtime)
  if (!domain) return

  await using database = openServiceDatabase(name, config, runtime)
  await using bus = await openServiceBus(name, config, runtime)
  await using outbox = relayOutbox({ bus, database, outbox: mail.outbox, log })
  const { poke } = outbox
  const contracts = { ausd, creditLine, domain }
  const shared = { database, node, contracts, clock: systemClock, log }
  const relayer: Relayer = { ...shared, ...newLife(), treasury, keys, settings: config, poke }
  await using rounds = startRounds(relayer, config.pollMs)
  await using _watched = startWatching(relayer, config.watchMs)

  const account = accountReader(node.reader, contracts)
  const answers = answersOf({ ...shared, account, wake: rounds.wake })
  const stats = relayerStats(relayer)
  const description = `puts commands on chain ${config.chainId}, exactly once`
  await using _served = await serve({ bus, name, description, answers, stats, log })
  const stored = () => {
    failpoint('relayer:operation-stored')
    rounds.wake()
    poke()
  }
  const desk = { messaging: mail, reactions: operationReactions, poke: stored, onStuck: stuck }
  const from = { bus, stream: 'COMMANDS', consumer: name } as const
  await using _consumed = consume({ ...from, ...desk, database, log })
  log.info({ lanes: keys.length }, 'service ready')
  await untilStopped(signal)
})
