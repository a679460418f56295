import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { type Child, startChild } from '#infra/local/child'
import { natsAnswers, planNats } from '#infra/local/nats'
import { waitUntil } from '#infra/local/wait'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'
import { suspend } from '#test/support/wait'
import { answering, freePort, onFreePorts } from './free-ports'

export type NatsNode = {
  readonly name: string
  readonly url: string
  /** Where it listens for the other nodes. */
  readonly routePort: number
  readonly monitorUrl: string
  /** Ends it as a power cut does, or in order. */
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** It hears nothing and says nothing, until it is resumed. */
  readonly suspend: () => Promise<void>
  readonly resume: () => void
  /** Starts it and resolves when it has caught up with the others. */
  readonly start: () => Promise<void>
  /** Removes everything it ever stored; it must have ended. */
  readonly loseStore: () => void
}

export type NatsCluster = AsyncDisposable & {
  readonly nodes: readonly NatsNode[]
  readonly node: (name: string) => NatsNode
  /** The node that leads JetStream as a whole: it places streams and consumers. */
  readonly leader: () => Promise<NatsNode>
  /** Every node, as NATS_URL takes them. */
  readonly url: string
  readonly passwords: Readonly<Record<NatsUser, string>>
  /** By any node, or by the one that is named by its URL. */
  readonly connectAs: (user: NatsUser, url?: string) => Promise<NatsConnection>
}

const names = ['nats-0', 'nats-1', 'nats-2'] as const
/** Three that start at once may need several elections, of some seconds each. */
const caughtUpMs = 60_000

/** Three real nodes in one cluster: the configuration of production, free ports, their own folder. */
export const startNatsCluster = (): Promise<NatsCluster> => onFreePorts(startOnce)

async function startOnce(): Promise<NatsCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'nats-cluster-'))
  const passwords = Object.fromEntries(
    natsUsers.map((user, index) => [user, `${index}e5-${user}`]),
  ) as Record<NatsUser, string>
  const ports: number[] = []
  for (const _ of names) ports.push(await freePort())
  const nodes: NatsNode[] = []
  for (const [index, name] of names.entries())
    nodes.push(
      await layNode(join(dir, name), passwords, {
        ...{ name, ports, port: ports[index]! },
        password: '9e9-cluster',
      }),
    )
  const end = async () => {
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    await Promise.all(nodes.map((node) => node.start()))
  } catch (error) {
    await end()
    throw error
  }
  const url = nodes.map((node) => node.url).join(',')
  const node = (name: string) => nodes.find((one) => one.name === name)!
  return {
    nodes,
    node,
    leader: () => waitUntil('a leader of all', async () => node(await leaderOf(nodes)), 60_000),
    url,
    passwords,
    connectAs: (user, at = url) =>
      connect({
        ...{ servers: at.split(','), user, pass: passwords[user] },
        ...{ inboxPrefix: `_INBOX_${user}`, maxReconnectAttempts: -1, reconnectTimeWait: 100 },
      }),
    [Symbol.asyncDispose]: end,
  }
}

async function layNode(
  dir: string,
  passwords: NatsCluster['passwords'],
  cluster: { name: string; port: number; ports: readonly number[]; password: string },
): Promise<NatsNode> {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const [port, monitorPort] = [await freePort(), await freePort()]
  const monitorUrl = `http://127.0.0.1:${monitorPort}`
  const plan = () => planNats({ dir, port, monitorPort, passwords, cluster })
  let child: Child | undefined
  return {
    name: cluster.name,
    url: `nats://127.0.0.1:${port}`,
    routePort: cluster.port,
    monitorUrl,
    end: async (signal) => child?.end(signal),
    suspend: async () => child && (await suspend(child.pid)),
    resume: () => child && void process.kill(child.pid, 'SIGCONT'),
    start: async () => {
      const command = plan()
      child = startChild(command)
      const { name } = cluster
      const ready = () => natsAnswers(monitorUrl)
      const answers = waitUntil(`${name} having caught up`, ready, caughtUpMs)
      await answering({ child, name, logFile: command.logFile }, answers)
    },
    loseStore: () => rmSync(join(dir, 'nats'), { recursive: true, force: true }),
  }
}

/** What any node that answers says of it; empty while there is none. */
async function leaderOf(nodes: readonly NatsNode[]): Promise<string> {
  const signal = AbortSignal.timeout(2_000)
  const answer = await Promise.any(
    nodes.map(async ({ monitorUrl }) => (await fetch(`${monitorUrl}/jsz`, { signal })).json()),
  )
  return (answer as { meta_cluster: { leader?: string } }).meta_cluster.leader ?? ''
}
