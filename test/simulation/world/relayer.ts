import type { Hex } from 'viem'
import { handle } from '#platform/bus/handling'
import { relayOutbox } from '#platform/bus/outbox-relay'
import { type Context, newProcess } from '../../../services/chain-relayer/context'
import { startSearches } from '../../../services/chain-relayer/operations/authorization-search'
import { watchLateTakes } from '../../../services/chain-relayer/operations/late-takes'
import { orderReactions } from '../../../services/chain-relayer/operations/order'
import { startRelayLoop } from '../../../services/chain-relayer/relay-loop'
import { messaging } from '../../../services/chain-relayer/schema.store'
import { ausd, creditLine } from '../chain/logs'
import { nodeOf } from '../chain/node'
import { type Copy, commonOf, type Surroundings } from './services'
import { chainId, domain, treasury } from './wallets'
import type { Process } from './world'

export const laneAddresses: readonly Hex[] = [
  '0x1a00000000000000000000000000000000000001',
  '0x1a00000000000000000000000000000000000002',
  '0x1a00000000000000000000000000000000000003',
]
const dripWei = 10n ** 17n

const most = { most: 10n ** 24n, day: 10n ** 30n }
const policy = {
  chainId,
  ausd,
  creditLine,
  limits: { credit: most, repay: most, return: most, drip: most },
}
const settings = {
  chainId,
  dripWei,
  dripBelowWei: dripWei,
  laneMinBalanceWei: 0n,
  laneRefillWei: 0n,
  gasBudgetWei: 10n ** 18n,
  baseFeeCapWei: 10n ** 15n,
  transfersLagBlocks: 0n,
  oldestAlarmMs: 600_000,
  pollMs: 1_000,
  rebroadcastAfterMs: 4_000,
  bumpAfterMs: 6_000,
  batchMax: 16,
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
    const balance = { ausd: String(chain.contract.balanceAt(wallet, number)), native: '0' }
    return { balance, blockNumber: String(number) } as never
  }
  const context: Context = {
    database,
    node,
    keys,
    policy,
    settings,
    log,
    clock,
    account,
    contracts: { ausd, creditLine, domain },
    ...newProcess(log, clock),
    treasury: { address: treasury, sign: async () => `0x${'7e'.repeat(65)}` as Hex },
    holder: process.name,
    readTurn: async () => {},
    isAccepted: async () => false,
    copies: { count: copies, poke: () => {} },
    poke: outbox.poke,
    wake: () => rounds.poke(),
  }
  const rounds = startRelayLoop(context, settings.pollMs)
  startSearches(context)
  watchLateTakes(context, 8_000)
  const poke = () => {
    context.wake()
    outbox.poke()
  }
  const handling = { consumer: 'chain-relayer', database, messaging, reactions: orderReactions, log, poke }
  broker.read('chain-relayer', { process, handle: (message) => handle(handling, message) })
  return { process, answers: [] }
}
