import type { Hex } from 'viem'
import { handle } from '#platform/bus/handling'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Config, messagesOf, startLoops } from '../../../services/chain-relayer/assemble'
import { fields } from '../../../services/chain-relayer/config'
import { messaging } from '../../../services/chain-relayer/schema.store'
import { ausd, creditLine } from '../chain/logs'
import { nodeOf } from '../chain/node'
import { accountAt } from './accounts'
import { type Copy, commonOf, type Surroundings } from './services'
import { chainId, domain, treasury } from './wallets'
import type { Process } from './world'

export const laneAddresses: readonly Hex[] = [
  '0x1a00000000000000000000000000000000000001',
  '0x1a00000000000000000000000000000000000002',
  '0x1a00000000000000000000000000000000000003',
]

const config: Config = {
  ...defaultsOf('chain-relayer', fields),
  chainId,
  ausdAddress: ausd,
  creditLineAddress: creditLine,
  // A simulated block takes a second.
  pollMs: 1_000,
  rebroadcastAfterMs: 4_000,
  bumpAfterMs: 6_000,
  watchMs: 8_000,
}

export function startRelayer(around: Surroundings, process: Process, copies: () => number): Copy {
  const { world, chain, broker } = around
  const { database, bus, log, clock } = commonOf(around, process)
  const node = nodeOf(world, chain, process)
  const outbox = relayOutbox({ bus, database, outbox: messaging.outbox, log })
  const keys = laneAddresses.map((address) => ({
    address,
    sign: async (_: unknown, fields: Parameters<typeof chain.sign>[1]) => {
      const { raw, hash } = chain.sign(address, fields)
      return { raw, hash }
    },
  }))
  const account = async (wallet: Hex) => {
    const { number } = await node.newestHead()
    return accountAt(chain, wallet, number) as never
  }
  const context = assemble(config, {
    database,
    node,
    keys,
    log,
    clock,
    account,
    contracts: { ausd, creditLine, domain },
    treasury: { address: treasury, sign: async () => `0x${'7e'.repeat(65)}` as Hex },
    isAccepted: async () => false,
    copies: { count: copies, poke: () => {} },
    poke: outbox.poke,
    wake: () => loops.poke(),
  })
  // Leases name the process, so that a story can be read.
  const named = { ...context, holder: process.name }
  const loops = startLoops(named, config)
  const handling = messagesOf(named)
  broker.read('chain-relayer', { process, handle: (message) => handle(handling, message) })
  return { process, answers: [] }
}
