import type { NatsError } from 'nats'
import { consumers } from '#infra/nats/topology'
import { isMissing } from '#platform/bus/consume'
import { askEverybody, type DownInstance, type InstanceRoster } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import type { RateState } from '#shared/messages/pricing'
import { type ProcessName, processNames } from '#shared/messages/topic'
import type { Heartbeat } from './heartbeat'

type ConsumerName = { readonly reader: string; readonly stream: string }

export type Lag = ConsumerName & {
  readonly waiting: number
  readonly underWay: number
  readonly redelivered: number
}

export type RateReading = {
  readonly pair: string
  readonly rate?: string
  readonly source?: string
  readonly ageMs?: number
  readonly state?: RateState
  /** Rate of cash-outs, null if none may be priced in this state. */
  readonly cashoutRate?: string | null
  readonly unavailable?: string
}

export type ServiceFigures = Readonly<Record<string, unknown>>

export type OnBus = {
  readonly copies: Readonly<Record<string, number>>
  /** Instances that were up, did not shut down, and do not respond. Only a lasting process knows them. */
  readonly down: readonly DownInstance[]
  readonly lags: readonly Lag[]
  /** Durable consumers that do not exist, so their messages wait. */
  readonly missing: readonly ConsumerName[]
  readonly rates: readonly RateReading[]
  /** What `operations` wrote last through Postgres and each stream. Empty if it does not respond. */
  readonly heartbeats: readonly Heartbeat[]
  /** Figures that one instance of each service reports. */
  readonly figures: Readonly<Record<string, ServiceFigures>>
}

/** Reads the state of services, queues and rates. Throws if NATS cannot be reached. */
export async function readBus(open: () => Promise<Bus>, roster?: InstanceRoster): Promise<OnBus> {
  const bus = await open()
  const [stats, lags, attendance] = await Promise.all([collectStats(bus), readLags(bus), roster?.call()])
  const of = (name: string) => stats.filter((one) => one.name === name)
  return {
    copies: Object.fromEntries(processNames.map((name) => [name, of(name).length])),
    down: attendance?.down ?? [],
    lags: lags.filter((one) => 'waiting' in one),
    missing: lags.filter((one) => !('waiting' in one)),
    rates: ratesIn(stats),
    heartbeats: (figuresIn(of('operations')[0]).heartbeats ?? []) as Heartbeat[],
    figures: Object.fromEntries(processNames.map((name) => [name, figuresIn(of(name)[0])])),
  }
}

/** Returns the figures of a service, which its first endpoint reports. */
const figuresIn = (stats: Stats | undefined): ServiceFigures => (stats?.endpoints?.[0]?.data ?? {}) as ServiceFigures

/** Returns the figures of each instance of a service that responds. */
export const readFigures = async (bus: Bus, service: ProcessName): Promise<ServiceFigures[]> =>
  (await collectStats(bus)).filter(({ name }) => name === service).map(figuresIn)

type Stats = { name: string; endpoints?: readonly { data?: unknown }[] }

const collectStats = (bus: Bus): Promise<Stats[]> =>
  askEverybody(bus, '$SRV.STATS', (reply) => {
    const answer = reply.json<Stats>()
    return { from: answer.name, answer }
  })

function unlessMissing(error: NatsError): undefined {
  if (!isMissing(error)) throw error
}

async function readLags({ nc }: Bus): Promise<(Lag | ConsumerName)[]> {
  const manager = await nc.jetstreamManager({ timeout: 5_000, checkAPI: false })
  const readers = Object.entries(consumers).flatMap(([stream, plans]) =>
    plans.map(async ({ durable_name: reader }): Promise<Lag | ConsumerName> => {
      const info = await manager.consumers.info(stream, reader).catch(unlessMissing)
      if (!info) return { reader, stream }
      return {
        reader,
        stream,
        waiting: info.num_pending,
        underWay: info.num_ack_pending,
        redelivered: info.num_redelivered,
      }
    }),
  )
  return Promise.all(readers)
}

/** Returns the rates of one instance, because they are nearly the same at every instance. */
function ratesIn(stats: readonly Stats[]): RateReading[] {
  const pricing = figuresIn(stats.find(({ name }) => name === 'pricing'))
  return Object.entries(pricing as Record<string, Omit<RateReading, 'pair'>>)
    .filter(([pair]) => pair.includes('/'))
    .map(([pair, figures]) => ({ pair, ...figures }))
}
