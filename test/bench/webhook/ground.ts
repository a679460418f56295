import { join } from 'node:path'
import { bundleOf, currentBundles } from '#infra/bundle/bundle'
import { localChainId } from '#infra/local/chain'
import { startChild } from '#infra/local/child'
import { environments, makeSecrets, type Secrets } from '#infra/local/environment'
import { natsAnswers, planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { migrateAll } from '#infra/migrations/migrate'
import { provisionNats } from '#infra/nats/provision'
import { liftedLimits } from '#test/support/settings'
import { benchDir } from '../bench-dir'

/** A gateway and its bus. No other service consumes the recorded webhooks. */
export type Ground = AsyncDisposable & {
  readonly gateway: string
  readonly natsUrl: string
  readonly secrets: Secrets
}

export async function layGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(benchDir()).path
  const secrets = makeSecrets({})
  const database = await planPostgres({
    dir,
    port: await freePort(),
    password: 'bench',
    durable: true,
  })
  const server = startChild(database.command)
  stack.defer(() => server.end('SIGINT'))
  const [port, monitorPort] = [await freePort(), await freePort()]
  const bus = startChild(planNats({ dir, port, monitorPort, passwords: secrets.nats }))
  stack.defer(() => bus.end())
  const natsUrl = `nats://127.0.0.1:${port}`
  await waitUntil('nats-server', () => natsAnswers(`http://127.0.0.1:${monitorPort}`))
  await provisionNats({ url: natsUrl, user: 'admin', password: secrets.nats.admin })
  await waitUntil('Postgres to respond', () => postgresAnswers(database.adminUrl))
  await migrateAll({ adminUrl: database.adminUrl, passwords: secrets.databaseRoles })

  const [gatewayPort, opsPort] = [await freePort(), await freePort()]
  const gateway = `http://127.0.0.1:${gatewayPort}`
  const { host, pathname } = new URL(database.adminUrl)
  const zero = `0x${'0'.repeat(40)}` as const
  const deployment = {
    ausd: zero,
    creditLine: zero,
    treasury: zero,
    genesisHash: `0x${'0'.repeat(64)}`,
    deployBlock: 0,
  } as never
  const places = {
    gatewayPort,
    opsPort,
    gateway,
    sandbox: gateway,
    sandboxPort: 0,
    natsUrl,
    database: { host, name: pathname.slice(1) },
    rpcUrl: '',
    chainId: localChainId,
    deployment,
    bookPath: '',
  }
  const child = startChild({
    name: 'gateway',
    bin: process.execPath,
    args: [bundleOf(await currentBundles(), 'gateway')],
    env: { ...environments(places, secrets).gateway, ...liftedLimits.gateway, END_WITH_STDIN: '1' },
    logFile: join(dir, 'logs/gateway.log'),
  })
  stack.defer(() => child.end())
  await waitUntil('the gateway', async () => (await fetch(`${gateway}/health`)).ok)
  const owned = stack.move()
  return { gateway, natsUrl, secrets, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
