import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chainAnswers, layChain, localChainId, planChain, type Terms } from '#infra/local/chain'
import { laneKeys, type Places, type Secrets } from '#infra/local/environment'
import { emptyDir } from '#infra/local/folders'
import type { DevAccount } from '#infra/local/keys'
import { natsAnswers, planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import type { Processes } from '#infra/local/processes'
import { waitUntil } from '#infra/local/wait'
import { migrateAll } from '#infra/migrations/migrate'
import { provisionNats } from '#infra/nats/provision'

export type Backbone = {
  natsUrl: string
  natsMonitor: string
  /** Makes streams and consumers what they should be, again. */
  provision: () => Promise<void>
  adminUrl: string
  database: Places['database']
  rpcUrl: string
  chainId: number
  deployment: Places['deployment']
}

export type BackboneOptions = {
  dir: string
  wantedPorts: { nats: number; monitor: number; postgres: number; chain: number }
  durable: boolean
  secrets: Secrets
  terms: Terms
  wallets: readonly DevAccount[]
  /** What the user's environment sets is used instead of what we would start. */
  own: Readonly<Record<string, string | undefined>>
}

/**
 * Starts what the services run on, all at once, and prepares it: roles, tables, streams, contracts.
 * Making a cluster of Postgres holds this process for seconds, so it comes first: a nats-server that
 * hears nothing for two seconds after its greeting hangs up.
 */
export async function bootBackbone(
  processes: Processes,
  options: BackboneOptions,
): Promise<Backbone> {
  const adminUrl = options.own.DATABASE_URL ?? (await startPostgres(processes, options))
  const [database, bus, chain] = await Promise.all([
    prepareDatabase(adminUrl, options),
    bootBus(processes, options),
    bootChain(processes, options),
  ])
  return { ...database, ...bus, ...chain }
}

async function prepareDatabase(adminUrl: string, options: BackboneOptions) {
  await waitUntil('Postgres answering', () => postgresAnswers(adminUrl))
  await migrateAll({ adminUrl, passwords: options.secrets.databaseRoles })
  const [, host = '', name = 'postgres'] =
    /^\w+:\/\/(?:[^@/]+@)?([^/?]+)\/?(.+)?$/.exec(adminUrl) ?? []
  return { adminUrl, database: { host, name } }
}

async function startPostgres(processes: Processes, options: BackboneOptions): Promise<string> {
  const port = await freePort(options.wantedPorts.postgres)
  const plan = planPostgres({
    dir: options.dir,
    port,
    password: options.secrets.postgres,
    durable: options.durable,
  })
  processes.add(plan.command)
  processes.afterwards(() => rmSync(plan.home, { recursive: true, force: true }))
  return plan.adminUrl
}

async function bootBus(processes: Processes, options: BackboneOptions) {
  const { natsUrl, natsMonitor } = options.own.NATS_URL
    ? { natsUrl: options.own.NATS_URL, natsMonitor: options.own.NATS_MONITOR_URL ?? '' }
    : await startNats(processes, options)
  const provision = () =>
    provisionNats({
      ...{ url: natsUrl, user: 'admin', password: options.secrets.nats.admin },
      replicas: Number(options.own.NATS_REPLICAS ?? 1),
    })
  await provision()
  return { natsUrl, natsMonitor, provision }
}

async function startNats(processes: Processes, options: BackboneOptions) {
  emptyDir(join(options.dir, 'nats'))
  const port = await freePort(options.wantedPorts.nats)
  const monitorPort = await freePort(options.wantedPorts.monitor)
  processes.add(planNats({ dir: options.dir, port, monitorPort, passwords: options.secrets.nats }))
  const natsMonitor = `http://127.0.0.1:${monitorPort}`
  await waitUntil('nats-server being ready', () => natsAnswers(natsMonitor))
  return { natsUrl: `nats://127.0.0.1:${port}`, natsMonitor }
}

/** A chain of the user's own is taken as it is only if it is an anvil: we deploy to it. */
async function bootChain(processes: Processes, options: BackboneOptions) {
  const rpcUrl = options.own.RPC_URL ?? (await startChain(processes, options))
  await waitUntil('the chain answering', () => chainAnswers(rpcUrl))
  const deployment = await layChain({
    rpcUrl,
    laneKeys,
    wallets: options.wallets,
    terms: options.terms,
  })
  return { rpcUrl, chainId: localChainId, deployment }
}

async function startChain(processes: Processes, options: BackboneOptions): Promise<string> {
  const port = await freePort(options.wantedPorts.chain)
  processes.add(planChain({ dir: options.dir, port }))
  return `http://127.0.0.1:${port}`
}
