import { consumers } from '#infra/nats/topology'
import type { Operator } from '#infra/operations/cli/operator'
import type { Bus } from '#shared/bus/open'
import { askEverybody } from '#shared/bus/scatter-gather'
import { processNames, serviceNames } from '#shared/messages/topic'

/** Backlog of a consumer. */
export type Lag = {
  readonly reader: string
  readonly stream: string
  /** Messages not delivered yet. */
  readonly waiting: number
  /** Messages delivered and not acknowledged. */
  readonly underWay: number
}

/** Pricing's rate of a pair, or the reason it has none. */
export type Rate = {
  readonly pair: string
  readonly rate?: string
  readonly source?: string
  readonly ageMs?: number
  readonly unavailable?: string
}

/** State read from the bus: instances, backlogs and rates. */
export type OnBus = {
  /** Responding instances by service. */
  readonly copies: Readonly<Record<string, number>>
  readonly lags: readonly Lag[]
  readonly rates: readonly Rate[]
}

/** Reads the state of the bus. Throws if NATS cannot be reached. */
export async function readBus(open: Operator['bus']): Promise<OnBus> {
  const bus = await open()
  const [stats, lags] = await Promise.all([gatherStats(bus), readLags(bus)])
  const copies = Object.fromEntries(
    processNames.map((name) => [name, stats.filter((one) => one.name === name).length]),
  )
  return { copies, lags, rates: ratesIn(stats) }
}

type Stats = { name: string; endpoints?: readonly { data?: unknown }[] }

const gatherStats = (bus: Bus): Promise<Stats[]> =>
  askEverybody(bus, '$SRV.STATS', serviceNames, (reply) => {
    const answer = reply.json<Stats>()
    return { from: answer.name, answer }
  })

async function readLags({ nc }: Bus): Promise<Lag[]> {
  const manager = await nc.jetstreamManager({ timeout: 5_000, checkAPI: false })
  const readers = Object.entries(consumers).flatMap(([stream, plans]) =>
    plans.map(async ({ durable_name: reader }): Promise<Lag> => {
      const info = await manager.consumers.info(stream, reader)
      return { reader, stream, waiting: info.num_pending, underWay: info.num_ack_pending }
    }),
  )
  return Promise.all(readers)
}

/**
 * Rates from one pricing instance: they are the same at every endpoint and nearly so at every
 * instance.
 */
function ratesIn(stats: readonly Stats[]): Rate[] {
  const data = stats.find(({ name }) => name === 'pricing')?.endpoints?.[0]?.data
  return Object.entries((data ?? {}) as Record<string, Omit<Rate, 'pair'>>)
    .filter(([pair]) => pair.includes('/'))
    .map(([pair, figures]) => ({ pair, ...figures }))
}
