import postgres from 'postgres'
import { startChild } from '#infra/local/child'
import { makeSecrets, type Secrets } from '#infra/local/environment'
import { natsAnswers, planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { benchDir } from '../bench-dir'
import { type BenchChain, fillChain } from '../chain/fill'
import { unlessInterrupted } from '../interrupt'
import { type Loop, viemLoop } from './viem-loop'

export type Ground = AsyncDisposable & {
  readonly dir: string
  readonly chain: BenchChain
  readonly loop: Loop
  readonly natsUrl: string
  readonly secrets: Secrets
  readonly freshDatabase: (name: string) => Promise<string>
}

export async function layGround(events: number, say: (line: string) => void): Promise<Ground> {
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
  await waitUntil('Postgres to respond', () => postgresAnswers(database.adminUrl))

  const [port, monitorPort] = [await freePort(), await freePort()]
  const bus = startChild(planNats({ dir, port, monitorPort, passwords: secrets.nats }))
  stack.defer(() => bus.end())
  const natsUrl = `nats://127.0.0.1:${port}`
  await waitUntil('nats-server', () => natsAnswers(`http://127.0.0.1:${monitorPort}`))
  await provisionNats({ url: natsUrl, user: 'admin', password: secrets.nats.admin })

  say(`filling a chain with ${events} events`)
  const chain = await unlessInterrupted(fillChain(dir, events))
  stack.defer(() => chain.child.end())
  const loop = await viemLoop(chain)
  if (loop.events !== chain.events) throw new Error(`the chain has ${loop.events} events instead of ${chain.events}`)
  say(
    `${chain.events} events of ${chain.wallets} wallets in ${chain.blocks} blocks, ` +
      `created in ${Math.round(chain.filledInMs / 1_000)} s`,
  )
  const owned = stack.move()
  return {
    dir,
    chain,
    loop,
    natsUrl,
    secrets,
    freshDatabase: (name) => freshDatabase(database.adminUrl, name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function freshDatabase(adminUrl: string, name: string): Promise<string> {
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${name}`)
  await admin.unsafe('checkpoint')
  await admin.end()
  return Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href
}
