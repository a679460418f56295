import type { JetStreamManager } from 'nats'
import { expecting, seconds, step } from '#infra/compose/smoke-test/report'
import type { ProcessDeath } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { passwordVariable } from '#infra/nats/server-environment'
import { streams } from '#infra/nats/topology'
import { type NatsCluster, startNatsCluster } from '../support/engines/nats-cluster'
import { openWorld } from '../world/drivers/stack'
import { endOfLoad } from './closing'
import { type Load, startLoad } from './load'

/** Longest time of a request in ms, including retries. */
const questionMaxMs = 2_000
const names = streams.map(({ name }) => name)

export async function natsFailover(): Promise<void> {
  const deaths: ProcessDeath[] = []
  await using cluster = await startNatsCluster()
  await using world = await openWorld('one', {
    own: {
      NATS_URL: cluster.url,
      NATS_REPLICAS: '3',
      ...Object.fromEntries(Object.entries(cluster.passwords).map(([user, word]) => [passwordVariable(user), word])),
    },
    onDeath: (death) => void deaths.push(death),
  })
  const admin = await cluster.connectAs('admin')
  const manager = await admin.jetstreamManager()
  const load = await startLoad(world)
  const parts = { cluster, manager, load }

  await step(
    'three nodes, three replicas of every stream',
    async () => {
      await allCurrent(manager)
      return `${names.length} streams; a payment was credited after ${seconds(await load.nextCredited())}`
    },
    { vital: true },
  )
  for (const name of names)
    await step(`the leader of ${name} is killed`, () =>
      killUnderLoad(parts, async () => (await manager.streams.info(name)).cluster?.leader),
    )
  await step('the cluster’s meta leader is killed', () =>
    killUnderLoad(parts, async () => (await cluster.leader()).name),
  )
  await step('a node loses its disk and is rebuilt', () => rebuildUnderLoad(parts))
  await step('another node is killed; the rebuilt one is needed for a majority', () =>
    killUnderLoad(parts, async () => cluster.nodes[1]!.name),
  )
  await endOfLoad(world, load, deaths)
  await admin.close()
}

type Parts = { cluster: NatsCluster; manager: JetStreamManager; load: Load }

const allCurrent = (manager: JetStreamManager) =>
  waitUntil(
    'all replicas to be current',
    async () => {
      const infos = await Promise.all(names.map((name) => manager.streams.info(name)))
      return infos.every(
        ({ cluster }) =>
          cluster?.leader && cluster.replicas?.length === 2 && cluster.replicas.every(({ current }) => current),
      )
    },
    60_000,
    200,
  )

async function killUnderLoad(
  { cluster, manager, load }: Parts,
  whom: () => Promise<string | undefined>,
): Promise<string> {
  const victim = cluster.node((await whom()) ?? '')
  const killedAt = Date.now()
  await victim.end('SIGKILL')
  const creditedMs = await load.nextCredited()
  const seen = load.since(killedAt)
  const longestMs = load.longestMs(killedAt)
  await victim.start()
  await allCurrent(manager)
  expecting(longestMs < questionMaxMs, `${victim.name}: ${seen}`)
  return `${victim.name}; ${seen}; a payment was credited after ${seconds(creditedMs)}`
}

async function rebuildUnderLoad({ cluster, manager, load }: Parts): Promise<string> {
  const victim = cluster.nodes[0]!
  const startedAt = Date.now()
  await victim.end('SIGKILL')
  victim.loseStore()
  await victim.start()
  await allCurrent(manager)
  const wholeMs = Date.now() - startedAt
  const longestMs = load.longestMs(startedAt)
  expecting(longestMs < questionMaxMs, load.since(startedAt))
  return `${victim.name} has every stream after ${seconds(wholeMs)}; ${load.since(startedAt)}`
}
