import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect as dial } from 'node:net'
import type { JetStreamManager, NatsConnection } from 'nats'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { streams } from '#infra/nats/topology'
import { natsCli, noNatsCli, openNatsShell, refused } from '#test/support/engines/nats-cli'
import { type NatsCluster, startNatsCluster } from '#test/support/engines/nats-cluster'

let cluster: NatsCluster
let admin: NatsConnection
let manager: JetStreamManager
const provision = (replicas?: number, { url }: { url: string } = cluster) =>
  provisionNats({
    url,
    user: 'admin',
    password: cluster.passwords.admin,
    ...(replicas === undefined ? {} : { replicas }),
  })
beforeAll(async () => {
  cluster = await startNatsCluster()
  admin = await cluster.connectAs('admin')
  manager = await admin.jetstreamManager()
})
afterAll(async () => {
  await admin?.close()
  await cluster?.[Symbol.asyncDispose]()
})

type Replica = { name: string; offline?: boolean }

const copies = async () =>
  Object.fromEntries(
    await Promise.all(
      streams.map(async ({ name }) => {
        const { config, cluster: group } = await manager.streams.info(name)
        const current = group?.replicas?.filter((one) => one.current).length ?? 0
        return [name, `${config.num_replicas}, ${current + (group?.leader ? 1 : 0)} of them current`]
      }),
    ),
  )
const each = (value: string) => Object.fromEntries(streams.map(({ name }) => [name, value]))
const become = (value: string) => waitUntil(value, async () => Bun.deepEquals(await copies(), each(value)))

describe('a cluster of three nodes', () => {
  test('a cluster of three nodes is provisioned by a client that connects before a leader exists', async () => {
    const [first, ...others] = cluster.nodes
    await Promise.all(others.map((node) => node.suspend()))
    const alone = await cluster.connectAs('admin', first!.url)
    const questions = await alone.jetstreamManager({ checkAPI: false, timeout: 1_000 })
    await waitUntil('nobody leading', async () =>
      questions.getAccountInfo().then(
        () => false,
        ({ api_error }) => api_error?.err_code === 10008,
      ),
    )
    await alone.close()
    const provisioned = provision(undefined, first)
    for (const node of others) node.resume()
    await provisioned
  })

  test('a cluster of three nodes has one replica of each stream by default', async () => {
    await provision()
    await become('1, 1 of them current')
  })

  test('a cluster of three nodes gets three replicas of each stream once a node has come back', async () => {
    const leader = await cluster.leader()
    const away = cluster.nodes.find((node) => node !== leader)!
    await away.end('SIGTERM')
    await waitUntil('the leader calling it offline', async () => {
      const state = await (await fetch(`${leader.monitorUrl}/jsz`)).json()
      const { replicas } = (state as { meta_cluster: { replicas: Replica[] } }).meta_cluster
      return replicas.some(({ name, offline }) => name === away.name && offline)
    })
    const provisioned = provision(3, leader)
    await away.start()
    await provisioned
    await become('3, 3 of them current')
  })

  test('a cluster of three nodes gets three replicas of each stream by one setting, and keeps the stored messages', async () => {
    const before = await admin.jetstream().publish('payments.paid', '{}')
    await provision(3)
    await become('3, 3 of them current')
    expect((await manager.streams.info('EVENTS')).state.last_seq).toBe(before.seq)
  })

  test('a cluster of three nodes keeps its replicas when a later provisioning asks for fewer', async () => {
    await provision(1)
    await provision()
    expect(await copies()).toEqual(each('3, 3 of them current'))
  })

  test('security: a cluster of three nodes admits no node without its password', async () => {
    const [node] = cluster.nodes
    const said = await new Promise<string>((resolve) => {
      const heard: string[] = []
      const socket = dial(node!.routePort, '127.0.0.1', () =>
        socket.write('CONNECT {"user":"route","pass":"admin","name":"x","cluster":"ausd"}\r\n'),
      )
      socket.on('data', (bytes) => void heard.push(String(bytes)))
      socket.on('close', () => resolve(heard.join('')))
    })
    expect(said).toContain('Authorization Violation')
  })
})

describe.skipIf(!natsCli)(natsCli ? 'the NATS CLI' : `the NATS CLI (${noNatsCli})`, () => {
  const as = (user: 'ops' | 'sys', words: string) => {
    const password = cluster.passwords[user === 'sys' ? 'admin' : user]
    return `nats --server ${cluster.url} --user ${user} --password ${password} --inbox-prefix _INBOX_${user} ${words}`
  }
  const rows = (text: string, name: string) => text.split('\n').filter((line) => line.includes(name))

  test('shows an operator the nodes, the leaders and the replicas of a cluster', async () => {
    await provision(3)
    await become('3, 3 of them current')
    using shell = openNatsShell()
    const shown = async (user: 'ops' | 'sys', words: string) => {
      const { code, text } = await shell.run(as(user, words))
      expect([words, code, text.match(refused)?.[0]]).toEqual([words, 0, undefined])
      return text
    }
    const report = await shown('ops', 'stream report')
    for (const { name } of streams) expect(rows(report, name).join()).toMatch(/nats-[012]\*/)
    const readers = await shown('ops', 'consumer report EVENTS')
    expect(rows(readers, 'payments').join()).toMatch(/nats-[012]\*/)
    const nodes = await shown('sys', 'server report jetstream')
    expect(nodes).toMatch(/nats-[012]\*/)
    const servers = await shown('sys', 'server ls')
    for (const { name } of cluster.nodes) expect(rows(servers, name)).not.toEqual([])
  })
})
