import type { ProcessName } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { Chance } from '#infra/sandbox/chance'
import { noFaults } from '#infra/sandbox/faults'
import type { RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
import { serviceNames } from '#shared/messages/topic'
import { signalAll } from './processes'
import type { World } from './world'

/** Something that goes wrong: `begin` does it and answers what ends it. */
export type Fault = {
  readonly name: string
  /** What it is counted as. */
  readonly kind: 'kill' | 'pause' | 'network' | 'provider' | 'chain' | 'webhooks'
  /** Faults of one target never overlap: ending one would end the other. */
  readonly target: string
  /** It lasts from so many ms to so many. */
  readonly lastsMs: readonly [number, number]
  readonly begin: (
    world: World,
    chance: Chance,
  ) => (() => void | Promise<void>) | Promise<() => void>
  /** Asked after the end, until it says so: the time until then is the recovery. */
  readonly isOver?: (world: World) => Promise<boolean>
}

const moment = [0, 0] as const

/** What a fault of one copy of a process names as its target. */
export const targetOf = (name: ProcessName, copy: number): string => `${name} ${copy}`

const killed = (name: ProcessName, copy?: number): Fault => ({
  name: `${name}${copy === 2 ? ' (second copy)' : ''} is killed`,
  kind: 'kill',
  target: targetOf(name, copy ?? 1),
  lastsMs: moment,
  begin: ({ stack }) => {
    stack.process(name, copy).kill('SIGKILL')
    return () => {}
  },
  isOver: isReady,
})

const paused = (name: ProcessName, lastsMs: readonly [number, number], copy?: number): Fault => ({
  name: `${name}${copy === 2 ? ' (second copy)' : ''} stands still`,
  kind: 'pause',
  target: targetOf(name, copy ?? 1),
  lastsMs,
  begin: ({ stack }) => {
    const pid = stack.process(name, copy).pid()
    signalAll(pid, 'SIGSTOP')
    return () => signalAll(pid, 'SIGCONT')
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

/** Both copies of a service at once: nobody is there until one has started again. */
const bothKilled = (name: (typeof serviceNames)[number]): Fault => ({
  ...killed(name),
  name: `both copies of ${name} are killed`,
  begin: ({ stack }) => {
    for (const copy of [1, 2]) stack.process(name, copy).kill('SIGKILL')
    return () => {}
  },
})

/** A copy dies exactly where it has written something and not yet said so. */
const atFailpoint = (name: (typeof serviceNames)[number], points: readonly string[]): Fault => ({
  ...killed(name),
  name: `a copy of ${name} dies between two steps`,
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
  name: `the way to ${to} ${what}`,
  kind: 'network',
  target: `wire ${to}`,
  lastsMs,
  begin,
})

const wireFaults = (['nats', 'postgres'] as const).flatMap((to) => [
  wireFault(to, 'is cut', moment, ({ wires }) => {
    wires[to].cut()
    return () => {}
  }),
  // Up to longer than a publication waits for its confirmation.
  wireFault(to, 'lets nothing pass', [500, 6_000], ({ wires }) => {
    wires[to].close()
    return () => wires[to].open()
  }),
  // Nobody hears of what was on it, in either direction: it was sent, and is lost.
  wireFault(to, 'loses what is on it', [500, 3_000], ({ wires }) => {
    wires[to].close()
    return () => {
      wires[to].cut()
      wires[to].open()
    }
  }),
  wireFault(to, 'is slow', [1_000, 6_000], ({ wires }, chance) => {
    wires[to].slow(20 + chance.belowMs(150))
    return () => wires[to].slow(0)
  }),
])

type SandboxFaults = { webhooks?: Record<string, unknown>; api?: Record<string, unknown> }

const provider = (
  kind: 'provider' | 'webhooks',
  what: string,
  faults: SandboxFaults,
  lastsMs: readonly [number, number] = [2_000, 8_000],
): Fault => ({
  name: what,
  kind,
  target: kind,
  lastsMs,
  begin: async ({ outside }, chance) => {
    await outside.faults({ ...faults, seed: chance.belowMs(1_000_000) })
    const section = kind === 'webhooks' ? 'webhooks' : 'api'
    return async () => {
      await waitUntil('the sandbox being calm', () =>
        outside.faults({ [section]: noFaults[section] }),
      )
    }
  },
})

const providerFaults = [
  provider('provider', 'the provider does it and says 500', { api: { errorAfterAccept: 0.5 } }),
  provider('provider', 'the provider says 500 and does nothing', { api: { errorRate: 0.5 } }),
  provider('provider', 'the provider does it and never answers', {
    api: { timeoutAfterAccept: 0.4 },
  }),
  provider(
    'provider',
    'orders come in after a 500, and banks are not served',
    // So late that a busy machine, too, has asked again by then.
    { api: { acceptLater: 0.5, acceptLaterMs: 15_000, closedChannels: 0.8 } },
    [6_000, 12_000],
  ),
  provider('provider', 'the provider is slow', { api: { delayMs: 1_200 } }),
  provider('provider', 'the provider has had enough', { api: { rateLimitRate: 0.6 } }),
  provider('provider', 'the provider refuses our address', { api: { forbidSender: 1 } }),
  provider('provider', 'the provider hides its refunds', { api: { hideRefunds: 1 } }),
  provider('provider', 'the list of transactions is late', { api: { listDelayMs: 4_000 } }),
  provider('provider', 'captures are one short', { api: { wrongAmount: 0.2 } }, [1_000, 3_000]),
  provider('webhooks', 'webhooks are lost', { webhooks: { drop: 0.8 } }),
  provider('webhooks', 'webhooks come twice and in any order', {
    webhooks: { duplicate: 0.8, reorder: true },
  }),
  provider('webhooks', 'webhooks come three times under new names', {
    webhooks: { times: 3, newIds: true, reorder: true },
  }),
  provider('webhooks', 'webhooks come late', { webhooks: { delayMs: 3_000 } }),
]

const chain = (
  what: string,
  faults: Partial<RpcFaults>,
  lastsMs: readonly [number, number] = [2_000, 8_000],
): Fault => ({
  name: what,
  kind: 'chain',
  target: 'rpc',
  lastsMs,
  begin: ({ stack }, chance) => {
    stack.rpcProxy!.setFaults({ ...faults, seed: chance.belowMs(1_000_000) })
    return () => stack.rpcProxy!.setFaults({})
  },
})

const chainFaults = [
  chain('the endpoint swallows half of what is sent', { swallowSendRate: 0.5 }),
  chain('the endpoint takes what is sent and never answers', { timeoutAfterAcceptRate: 0.5 }),
  chain('the endpoint sends later', { delaySendRate: 0.8, delaySendMs: 1_500 }),
  chain('the pool refuses for a while', { poolErrorRate: 0.6 }),
  chain('receipts come and go', { vanishReceiptReads: 3 }),
  chain('the head goes backwards', { headBackRate: 0.4, headBackBlocks: 6 }),
  chain('the endpoint lags', { headLagBlocks: 12 }),
  chain('logs are left out', { partialLogsRate: 0.3 }),
  chain('the endpoint cuts connections', { disconnectRate: 0.4 }),
  chain('the endpoint hangs', { hangRate: 0.3 }, [1_000, 4_000]),
  chain('the endpoint has had enough', { tooManyRequestsRate: 0.5 }),
]

/** Where a copy may die; the names stand in the code. */
export type Failpoints = ReadonlyMap<(typeof serviceNames)[number], readonly string[]>

/** All that can go wrong in a campaign. */
export const faultsWith = (failpoints: Failpoints): readonly Fault[] => [
  ...serviceNames.flatMap((name) => [
    killed(name, 1),
    killed(name, 2),
    paused(name, [500, 5_000], 1),
    paused(name, [500, 5_000], 2),
    bothKilled(name),
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
  ...wireFaults,
  ...providerFaults,
  ...chainFaults,
]
