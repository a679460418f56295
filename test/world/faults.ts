import { devKey } from '#infra/local/keys'
import type { StackProcess } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { noFaults } from '#infra/sandbox/faults'
import type { Random } from '#infra/sandbox/random'
import type { RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
import { serviceNames } from '#shared/messages/topic'
import { callerOf } from '../support/people'
import { about, signalAll, withChildren } from '../support/processes'
import { operate } from '../support/stack'
import { type Store, stores } from './drivers/power'
import type { Topology, World } from './drivers/stack'
import type { WorldDeed } from './record'

/** Kinds of faults. A campaign meets each kind once before any repeats. */
export const faultKinds = [
  'kill',
  'failpoint',
  'pause',
  'freeze',
  'network',
  'provider',
  'clock',
  'chain',
  'webhooks',
  'disk',
  'power',
  'operator',
] as const

export type Fault = {
  readonly name: string
  readonly kind: (typeof faultKinds)[number]
  /** Targets of the fault. Faults of one target never overlap, because ending one would end the other. */
  readonly targets: readonly string[]
  /** Shortest and longest duration in ms. */
  readonly lastsMs: readonly [number, number]
  readonly begin: (world: World, chance: Random) => (() => void | Promise<void>) | Promise<() => void | Promise<void>>
  /** Something without which the fault cannot be caused: strace(1), or disks of the stores' own. */
  readonly needs?: 'strace' | 'disks'
  /** Returns true once the target has recovered. It is polled, which measures the recovery. */
  readonly isOver?: (world: World) => Promise<boolean>
}

const moment = [0, 0] as const

export const targetOf = (name: StackProcess, copy: number): string => `${name} ${copy}`

const killed = (name: StackProcess, copy?: number): Fault => ({
  name: `${name}${copy === 2 ? ' (second instance)' : ''} is killed`,
  kind: 'kill',
  targets: [targetOf(name, copy ?? 1)],
  lastsMs: moment,
  begin: ({ stack }) => {
    stack.process(name, copy).kill('SIGKILL')
    return () => {}
  },
  isOver: isReady,
})

/**
 * Freeze in ms of one instance, from longer than a lane's or an outbox's lease (5 s) to longer than a check's (30 s), so that
 * it wakes up believing that it still holds what another has taken.
 */
export const frozenMs = [6_000, 35_000] as const

const frozen = (name: StackProcess, copy: number): Fault => ({
  ...paused(name, frozenMs, copy),
  name: `${name}${copy === 2 ? ' (second instance)' : ''} is frozen for longer than its leases`,
  kind: 'freeze',
  // While one instance is frozen, the other must do its work.
  targets: [targetOf(name, copy), `freeze of ${name}`],
})

const paused = (name: StackProcess, lastsMs: readonly [number, number], copy?: number): Fault => ({
  name: `${name}${copy === 2 ? ' (second instance)' : ''} is paused`,
  kind: 'pause',
  targets: [targetOf(name, copy ?? 1)],
  lastsMs,
  begin: ({ stack }) => {
    const pids = withChildren([stack.process(name, copy).pid()])
    signalAll(pids, 'SIGSTOP')
    return () => signalAll(pids, 'SIGCONT')
  },
  isOver: isReady,
})

async function isReady({ stack, retired }: World): Promise<boolean> {
  const there = stack.gateways.filter((_, at) => !retired.has(targetOf('gateway', at + 1)))
  const answers = await Promise.all(
    there.map((gateway) =>
      fetch(`${gateway}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    ),
  )
  return answers.every(Boolean)
}

/** Returns a fault that kills both instances, so that the service is down until one has restarted. */
const bothKilled = (name: (typeof serviceNames)[number]): Fault => ({
  ...killed(name),
  name: `both instances of ${name} are killed`,
  begin: ({ stack }) => {
    for (const copy of [1, 2]) stack.process(name, copy).kill('SIGKILL')
    return () => {}
  },
})

/** Returns a fault that kills the instance that reaches a boundary first. */
const atFailpoint = (name: (typeof serviceNames)[number], points: readonly string[]): Fault => ({
  ...killed(name),
  name: `an instance of ${name} is killed between two steps`,
  kind: 'failpoint',
  targets: [`failpoint of ${name}`],
  begin: async ({ stack }, chance) => {
    const point = points[chance.belowMs(points.length)]!
    await Bun.write(stack.failpointFile(name), point)
    return () => {}
  },
})

const wireFault = (
  to: 'nats' | 'postgres',
  what: string,
  lastsMs: readonly [number, number],
  begin: Fault['begin'],
): Fault => ({
  name: `connections to ${to} ${what}`,
  kind: 'network',
  targets: [`wire ${to}`],
  lastsMs,
  begin,
})

const wireFaults = (['nats', 'postgres'] as const).flatMap((to) => [
  wireFault(to, 'are cut', moment, ({ wires }) => {
    wires[to]!.cut()
    return () => {}
  }),
  // The longest of these exceed the timeout of a publish.
  wireFault(to, 'stall', [500, 6_000], ({ wires }) => {
    wires[to]!.close()
    return () => wires[to]!.open()
  }),
  // This fault loses data in transit in both directions.
  wireFault(to, 'lose data', [500, 3_000], ({ wires }) => {
    wires[to]!.close()
    return () => {
      wires[to]!.cut()
      wires[to]!.open()
    }
  }),
  wireFault(to, 'are slow', [1_000, 6_000], ({ wires }, chance) => {
    wires[to]!.slow(20 + chance.belowMs(150))
    return () => wires[to]!.slow(0)
  }),
])

/** Changes a process's writes to the disk, also those of its present children, by strace(1). */
const disk = (
  name: 'nats-server' | 'postgres',
  what: string,
  calls: string,
  change: (chance: Random) => string,
  lastsMs: readonly [number, number],
): Fault => ({
  name: `the disk of ${name} ${what}`,
  kind: 'disk',
  targets: [targetOf(name, 1)],
  lastsMs,
  needs: 'strace',
  begin: async ({ stack }, chance) => {
    const pid = stack.process(name).pid()
    const traced = withChildren([pid]).flatMap((one) => ['-p', String(one)])
    const changes = ['-e', `trace=${calls}`, '-e', `inject=${calls}:${change(chance)}`]
    const tracer = Bun.spawn(['strace', '-f', '-qq', '-o', '/dev/null', ...changes, ...traced], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const end = async () => {
      tracer.kill('SIGINT')
      await tracer.exited
    }
    const isTraced = () => /^TracerPid:\t[1-9]/m.test(about(pid, 'status')) || tracer.exitCode !== null
    await waitUntil(`strace to follow ${name}`, isTraced, 10_000).catch(async (error) => {
      await end()
      throw error
    })
    if (tracer.exitCode !== null) throw new Error(`strace could not follow ${name}`)
    return end
  },
  isOver: isReady,
})

const writes = 'pwrite64,fsync,fdatasync'
const diskFaults = [
  ...(['nats-server', 'postgres'] as const).map((name) =>
    disk(name, 'is slow', writes, (chance) => `delay_enter=${5_000 + chance.belowMs(95_000)}`, [2_000, 8_000]),
  ),
  // Postgres gives up and recovers. JetStream would need a restart by an operator.
  disk('postgres', 'is full', 'pwrite64,pwritev,fallocate', () => 'error=ENOSPC', [300, 2_000]),
]

/** Cuts the power of a store. What it acknowledged must be on its disk, and is all that it starts with again. */
const powerCut = (store: Store): Fault => ({
  name: `the power of ${store} is cut`,
  kind: 'power',
  targets: [targetOf(store, 1)],
  lastsMs: moment,
  needs: 'disks',
  begin: async ({ power }) => {
    await power!.cut(store)
    return () => power!.on(store)
  },
  isOver: isReady,
})

type SandboxFaults = { webhooks?: Record<string, unknown>; api?: Record<string, unknown> }

const provider = (
  kind: 'provider' | 'webhooks' | 'clock',
  what: string,
  faults: SandboxFaults,
  lastsMs: readonly [number, number] = [2_000, 8_000],
): Fault => ({
  name: what,
  kind,
  // The sandbox has one setting for all faults of its API.
  targets: [kind === 'webhooks' ? 'webhooks' : 'provider'],
  lastsMs,
  begin: async ({ outside }, chance) => {
    const section = kind === 'webhooks' ? 'webhooks' : 'api'
    const end = async () => {
      await waitUntil('the sandbox to accept new settings', () => outside.faults({ [section]: noFaults[section] }))
    }
    try {
      await outside.faults({ ...faults, seed: chance.belowMs(1_000_000) })
    } catch (error) {
      await end() // The sandbox may have applied the faults although it did not respond.
      throw error
    }
    return end
  },
})

const providerFaults = [
  provider('provider', 'the provider executes and responds 500', {
    api: { errorAfterAccept: 0.5 },
  }),
  provider('provider', 'the provider responds 500 and does nothing', { api: { errorRate: 0.5 } }),
  provider('provider', 'the provider executes and never responds', {
    api: { timeoutAfterAccept: 0.4 },
  }),
  provider(
    'provider',
    'orders are executed after a 500 while banks are unavailable',
    // Even a busy machine has retried by then.
    { api: { acceptLater: 0.5, acceptLaterMs: 15_000, closedChannels: 0.8 } },
    [6_000, 12_000],
  ),
  provider('provider', 'the provider is slow', { api: { delayMs: 1_200 } }),
  provider('provider', 'the provider limits the rate', { api: { rateLimitRate: 0.6 } }),
  provider('provider', 'the provider rejects our address', { api: { forbidSender: 1 } }),
  provider('provider', 'the provider hides its refunds', { api: { hideRefunds: 1 } }),
  provider('provider', 'the provider hides its disputes', { api: { hideDisputes: 1 } }),
  provider('provider', 'the provider forgets the keys of refunds', { api: { forgetKeys: 1 } }),
  provider('provider', 'checkouts are for another amount', { api: { otherCheckout: 0.5 } }),
  provider('provider', 'the provider hides payments', { api: { hidePayments: 0.7 } }),
  provider('provider', 'payments read FAILED for a while', { api: { failPayments: 0.5 } }),
  provider('provider', 'times are of another form', { api: { oddTimes: 0.5 } }),
  provider('clock', 'its clock is two hours ahead', { api: { clockAheadMs: 7_200_000 } }),
  provider('clock', 'its clock is two hours behind', { api: { clockAheadMs: -7_200_000 } }),
  provider('provider', 'refunds are listed without an id', { api: { namelessRefunds: 1 } }),
  provider('provider', 'the list of transactions is forbidden', { api: { forbidList: 1 } }),
  provider('provider', 'the list of transactions is late', { api: { listDelayMs: 4_000 } }),
  provider('provider', 'captures are one unit short', { api: { wrongAmount: 0.2 } }, [1_000, 3_000]),
  provider('webhooks', 'webhooks are lost', { webhooks: { drop: 0.8 } }),
  provider('webhooks', 'webhooks are doubled and reordered', {
    webhooks: { duplicate: 0.8, reorder: true },
  }),
  provider('webhooks', 'webhooks are tripled with new ids', {
    webhooks: { times: 3, newIds: true, reorder: true },
  }),
  provider('webhooks', 'webhooks are late', { webhooks: { delayMs: 3_000 } }),
]

const chain = (
  what: string,
  faults: Partial<RpcFaults>,
  lastsMs: readonly [number, number] = [2_000, 8_000],
): Fault => ({
  name: what,
  kind: 'chain',
  targets: ['rpc'],
  lastsMs,
  begin: ({ stack }, chance) => {
    stack.rpcProxy!.setFaults({ ...faults, seed: chance.belowMs(1_000_000) })
    return () => stack.rpcProxy!.setFaults({})
  },
})

const chainFaults = [
  chain('the endpoint drops half of the transactions', { swallowSendRate: 0.5 }),
  chain('the endpoint accepts transactions and never responds', { timeoutAfterAcceptRate: 0.5 }),
  chain('the endpoint broadcasts late', { delaySendRate: 0.8, delaySendMs: 1_500 }),
  chain('the transaction pool rejects', { poolErrorRate: 0.6 }),
  chain('receipts disappear for a while', { vanishReceiptReads: 3 }),
  chain('the head goes backwards', { headBackRate: 0.4, headBackBlocks: 6 }),
  chain('the endpoint lags', { headLagBlocks: 12 }),
  chain('the endpoint stands still', { headStandsStill: true }),
  chain('the endpoint has no finalized block', { finalizedIsNull: true }),
  chain('the endpoint serves receipts of discarded blocks', { discardedBlockRate: 0.5 }),
  chain('the endpoint serves another chain after outages', {
    otherGenesis: true,
    disconnectRate: 0.2,
  }),
  chain('log ranges are capped', { logsRangeMax: 5, logsRangeStatus: 413 }),
  chain('log results are capped', { logsResultsMax: 3 }),
  chain('log ranges are shortened silently', { logsClampBlocks: 4 }),
  chain('logs are late', { lateLogsReads: 3 }),
  chain('logs are incomplete', { partialLogsRate: 0.3 }),
  chain('the endpoint cuts connections', { disconnectRate: 0.4 }),
  chain('the endpoint hangs', { hangRate: 0.3 }, [1_000, 4_000]),
  chain('the endpoint is slow', { delayMs: 800 }),
  chain('the endpoint refuses batches', { takesBatches: false }),
  chain('the endpoint limits the rate', { tooManyRequestsRate: 0.5 }),
]

/** Both pauses last long enough that money may go back while its credit waits. */
const operatorFaults: readonly Fault[] = [
  {
    name: 'an operator pauses relaying',
    kind: 'operator',
    targets: ['pause of relaying'],
    lastsMs: [3_000, 20_000],
    begin: async ({ stack }) => {
      const set = (verb: 'pause' | 'resume') => async () =>
        (await operate(stack, verb, 'relaying', '--by', 'sari', '--reason', 'campaign')).code === 0
      await waitUntil('relaying to be paused', set('pause'))
      return () => waitUntil('relaying to be resumed', set('resume')).then(() => {})
    },
  },
  {
    name: 'the credit line is paused',
    kind: 'operator',
    targets: ['pause of the credit line'],
    lastsMs: [3_000, 20_000],
    begin: async ({ stack }) => {
      const admin = callerOf(stack, devKey('admin'))
      // A call that reverts was made before, and its answer was lost.
      const set = (verb: 'pause' | 'unpause') => () =>
        admin.call(verb, []).then(
          () => true,
          (error: Error) => /reverted/.test(error.message),
        )
      await waitUntil('the credit line to be paused', set('pause'))
      return () => waitUntil('the end of the pause of the credit line', set('unpause')).then(() => {})
    },
  },
]

/** Failpoints per service, as its code names them. */
export type Failpoints = ReadonlyMap<(typeof serviceNames)[number], readonly string[]>

/** Returns the faults of a topology. A single instance is not frozen for long, because nobody would do its work. */
export const faultsWith = (failpoints: Failpoints, topology: Topology = 'copies behind wires'): readonly Fault[] => [
  ...serviceNames.flatMap((name) => [
    killed(name, 1),
    paused(name, [500, 5_000], 1),
    ...(topology === 'one'
      ? []
      : [killed(name, 2), paused(name, [500, 5_000], 2), frozen(name, 1), frozen(name, 2), bothKilled(name)]),
  ]),
  ...[...failpoints].flatMap(([name, points]) => {
    const one = atFailpoint(name, points)
    return [one, one, one]
  }),
  killed('nats-server'),
  paused('nats-server', [500, 4_000]),
  killed('postgres'),
  paused('postgres', [500, 4_000]),
  killed('sandbox'),
  paused('sandbox', [500, 3_000]),
  paused('chain', [500, 5_000]),
  ...(topology === 'copies behind wires' ? wireFaults : []),
  ...providerFaults,
  ...chainFaults,
  ...diskFaults,
  ...stores.map(powerCut),
  ...operatorFaults,
]

/** A fault of one item, which runs at the same time and ends by a step of the item. */
export type ItemFault = (world: World, deed: WorldDeed) => Promise<void>

/** Longest wait in ms for what ends the fault of an item. */
const itemMaxMs = 90_000
const rowsOf = (what: string, find: () => PromiseLike<readonly unknown[]>, deadlineMs = itemMaxMs) =>
  waitUntil(what, async () => (await find()).length > 0, deadlineMs, 50)
const idOf = (deed: WorldDeed): Promise<string> => waitUntil('an accepted item', () => deed.answer?.id, itemMaxMs)

/** Faults of one item. They end when the database shows their effect. */
export const itemFaults = {
  /** Services must poll the provider. It stays, because every item has it. */
  webhooksLost: async ({ outside }) => {
    await outside.faults({ webhooks: { drop: 1 } })
  },
  /** Services must ask for each checkout. It stays, too. */
  webhooksAndListLost: async ({ outside }) => {
    await outside.faults({ webhooks: { drop: 1 }, api: { forbidList: 1 } })
  },
  /**
   * Makes the provider fail until the hold is extended. If the extending process was killed, it fails for 15 s: then the
   * hold expires, and its check waits for the provider.
   */
  silentUntilExtended: async ({ outside, sql }, deed) => {
    const id = await idOf(deed)
    await rowsOf('the hold', () => sql`select id from payments.payments where id = ${id} and state = 'held'`)
    await outside.faults({ api: { errorRate: 1 } })
    const extended = () => sql`
      select id from chain_relayer.operation
      where kind = 'extend' and cause like ${`${id}%`} and state = 'settled'`
    await rowsOf('the extension', extended, 15_000).catch(() => {})
    await outside.calm()
  },
  /** Makes the provider accept a payout and lose its response; webhooks are lost too. */
  orderUnanswered: async ({ outside, sql }, deed) => {
    await outside.faults({ webhooks: { drop: 1 }, api: { timeoutAfterAccept: 1 } })
    const id = await idOf(deed)
    await rowsOf('an attempt', () => sql`select id from payouts.payouts where id = ${id} and attempts > 0`)
    await outside.faults({ api: { timeoutAfterAccept: 0 } })
  },
  /** Makes the node refuse every first fee. */
  feeRefusedUntilRaised: async ({ stack, sql }) => {
    const raised = async () => {
      const [row] = await sql`select count(*)::int as attempts from chain_relayer.attempt where attempt > 1`
      return row!.attempts as number
    }
    const before = await raised()
    stack.rpcProxy!.setFaults({ poolErrorRate: 1, poolWord: 'Transaction fee too low', stickyRefusals: true })
    await waitUntil('a higher fee', async () => (await raised()) > before, itemMaxMs).finally(() =>
      stack.rpcProxy!.setFaults({}),
    )
  },
} satisfies { [name: string]: ItemFault }

/** Something that the services depend on, and how it is taken away and given back. */
export type Dependency = {
  readonly name: 'nats' | 'postgres' | 'chain' | 'provider'
  readonly take: (world: World) => Promise<void>
  readonly giveBack: (world: World) => Promise<void>
}

const stopped = (process: 'nats-server' | 'postgres') => ({
  take: ({ stack }: World) => stack.process(process).stop('SIGKILL'),
  giveBack: async ({ stack }: World) => void stack.process(process).start(),
})

export const dependencies: readonly Dependency[] = [
  { name: 'nats', ...stopped('nats-server') },
  { name: 'postgres', ...stopped('postgres') },
  {
    name: 'chain',
    take: async ({ stack }) => stack.rpcProxy!.setFaults({ disconnectRate: 1 }),
    giveBack: async ({ stack }) => stack.rpcProxy!.setFaults({}),
  },
  {
    // Every request gets a 500, and no webhook is sent.
    name: 'provider',
    take: async ({ outside }) => void (await outside.faults({ api: { errorRate: 1 }, webhooks: { drop: 1 } })),
    giveBack: async ({ outside }) => void (await outside.faults({ api: noFaults.api, webhooks: noFaults.webhooks })),
  },
]
