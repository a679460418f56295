import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { type Child, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { natsAnswers, planNats } from '#infra/local/nats'
import { waitUntil } from '#infra/local/wait'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'
import { suspend } from '#test/support/wait'
import { answering, freePort, onFreePorts } from './free-ports'

export type NatsNode = {
  readonly name: string
  readonly url: string
  /** Port for the other nodes. */
  readonly routePort: number
  readonly monitorUrl: string
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  readonly suspend: () => Promise<void>
  readonly resume: () => void
  /** Starts the node; resolves when it has caught up. */
  readonly start: () => Promise<void>
  readonly loseStore: () => void
}

export type NatsCluster = AsyncDisposable & {
  readonly nodes: readonly NatsNode[]
  readonly node: (name: string) => NatsNode
  /** Returns the meta leader, which places streams and consumers. */
  readonly leader: () => Promise<NatsNode>
  /** URL of every node, as in NATS_URL. */
  readonly url: string
  readonly passwords: Readonly<Record<NatsUser, string>>
  /** Connects to a node, by default to any. */
  readonly connectAs: (user: NatsUser, url?: string) => Promise<NatsConnection>
}

const names = ['nats-0', 'nats-1', 'nats-2'] as const
/** Longest wait in ms; several elections may take a few seconds each. */
const caughtUpMs = 60_000

/** Starts a cluster with the configuration of production. */
export const startNatsCluster = (): Promise<NatsCluster> => onFreePorts(startOnce)

async function startOnce(): Promise<NatsCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'nats-cluster-'))
  const passwords = Object.fromEntries(natsUsers.map((user, index) => [user, `${index}e5-${user}`])) as Record<
    NatsUser,
    string
  >
  const ports: number[] = []
  for (const _ of names) ports.push(await freePort())
  const nodes: NatsNode[] = []
  for (const [index, name] of names.entries())
    nodes.push(
      await layNode(join(dir, name), passwords, {
        name,
        ports,
        port: ports[index]!,
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
    leader: () => waitUntil('a leader of all', async () => node(await leaderOf(nodes))),
    url,
    passwords,
    connectAs: (user, at = url) =>
      connect({
        servers: at.split(','),
        user,
        pass: passwords[user],
        inboxPrefix: `_INBOX_${user}`,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
      }),
    [Symbol.asyncDispose]: end,
  }
}

const confDir = join(repositoryDir, 'infra/nats')

/** Returns the configuration without TLS, which `infra/nats/encryption.test.ts` covers. */
const withoutTls = (dir: string): string =>
  readFileSync(join(confDir, 'nats-cluster.conf'), 'utf8')
    .replace('./nats-server.conf', relative(dir, join(confDir, 'nats-server.conf')))
    .replaceAll(/^ *tls .*$/gm, '')

async function layNode(
  dir: string,
  passwords: NatsCluster['passwords'],
  cluster: { name: string; port: number; ports: readonly number[]; password: string },
): Promise<NatsNode> {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const [port, monitorPort] = [await freePort(), await freePort()]
  const monitorUrl = `http://127.0.0.1:${monitorPort}`
  const conf = join(dir, 'nats-cluster.conf')
  writeFileSync(conf, withoutTls(dir))
  const plan = () => ({
    ...planNats({ dir, port, monitorPort, passwords, cluster }),
    args: ['-c', conf],
  })
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

/** Returns the leader by any node that responds; empty without one. */
async function leaderOf(nodes: readonly NatsNode[]): Promise<string> {
  const signal = AbortSignal.timeout(2_000)
  const answer = await Promise.any(
    nodes.map(async ({ monitorUrl }) => (await fetch(`${monitorUrl}/jsz`, { signal })).json()),
  )
  return (answer as { meta_cluster: { leader?: string } }).meta_cluster.leader ?? ''
}
