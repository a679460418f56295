import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  chainAnswers,
  hasContracts,
  keptChainDir,
  type LocalChainTerms,
  layChain,
  localChainId,
  planChain,
  planKeptChain,
} from '#infra/local/chain'
import type { Command } from '#infra/local/child'
import { laneKeys, type Places, type Secrets } from '#infra/local/environment'
import { emptyFolder } from '#infra/local/folders'
import type { DevAccount } from '#infra/local/keys'
import { natsAnswers, natsSignsIn, planNats } from '#infra/local/nats'
import { assertServerServes, type Cluster, claimDatabase, planPostgres, postgresAnswers } from '#infra/local/postgres'
import type { Processes } from '#infra/local/processes'
import { onSlowDisk } from '#infra/local/slow-disk'
import { StartFault } from '#infra/local/start/faults'
import { type Kept, readKept } from '#infra/local/start/kept'
import { assertOwnChain, untilOwnAnswers } from '#infra/local/start/own'
import { noProgress, type StartProgress } from '#infra/local/start/progress'
import { unlessStopped } from '#infra/local/wait'
import { migrateAll } from '#infra/migrations/migrate'
import { provisionNats } from '#infra/nats/provision'

export type Dependencies = {
  natsUrl: string
  natsMonitor: string
  provision: () => Promise<void>
  adminUrl: string
  database: Places['database']
  rpcUrl: string
  chainId: number
  deployment: Places['deployment']
  postgresHome: string | undefined
}

export type ChoosePort<Part> = (part: Part) => Promise<number>

export type DependencyOptions = {
  dir: string
  choosePort: ChoosePort<'nats' | 'monitor' | 'postgres' | 'chain'>
  durable: boolean
  syncMs?: number | undefined
  secrets: Secrets
  terms: LocalChainTerms
  wallets: readonly DevAccount[]
  /** Servers of the user's environment, which are used instead of starting our own. */
  own: Readonly<Record<string, string | undefined>>
  kept?: Kept | undefined
  cluster?: Cluster | undefined
  /** True if the data stays when a stack that became ready ends. */
  leaves?: boolean
  signal?: AbortSignal | undefined
  progress?: StartProgress
  ackWaitMs?: number | undefined
}

export async function bootDependencies(processes: Processes, options: DependencyOptions): Promise<Dependencies> {
  const { during } = options.progress ?? noProgress
  const parts = [
    during('Postgres', bootDatabase(processes, options)),
    during('NATS', bootBus(processes, options)),
    during('chain and contracts', bootChain(processes, options)),
  ] as const
  try {
    const [database, bus, chain] = await Promise.all(parts)
    return { ...database, ...bus, ...chain }
  } catch (error) {
    // A retry must not meet processes that are still starting.
    await processes.end()
    await Promise.allSettled(parts)
    throw error
  }
}

const onDisk = (command: Command, { syncMs = 0 }: DependencyOptions): Command =>
  syncMs > 0 ? onSlowDisk(command, syncMs) : command

async function bootDatabase(processes: Processes, options: DependencyOptions) {
  const { DATABASE_URL } = options.own
  const { adminUrl, home: postgresHome } = DATABASE_URL
    ? { adminUrl: DATABASE_URL, home: undefined }
    : await startPostgres(processes, options)
  const answers = () => postgresAnswers(adminUrl)
  if (DATABASE_URL) await untilOwnAnswers(processes, 'DATABASE_URL', DATABASE_URL, answers)
  else await processes.until('Postgres to respond', answers)
  await assertServerServes(adminUrl)
  if (DATABASE_URL) await claimDatabase(adminUrl, options.dir, options.kept !== undefined)
  const { databaseRoles: passwords } = options.secrets
  await unlessStopped(migrateAll({ adminUrl, passwords }), options.signal)
  const [, host = '', name = 'postgres'] = /^\w+:\/\/(?:[^@/]+@)?([^/?]+)\/?(.+)?$/.exec(adminUrl) ?? []
  return { adminUrl, database: { host, name }, postgresHome }
}

async function startPostgres(processes: Processes, options: DependencyOptions) {
  const port = await options.choosePort('postgres')
  const plan = await planPostgres({
    dir: options.dir,
    port,
    password: options.secrets.postgres,
    durable: options.durable,
    home: options.kept?.postgresHome,
    copyOf: options.cluster,
  })
  const discard = () => {
    const isLeft = options.leaves && readKept(options.dir)?.postgresHome === plan.home
    if (!isLeft) rmSync(plan.home, { recursive: true, force: true })
  }
  try {
    processes.add(onDisk(plan.command, options))
  } catch (error) {
    discard() // The stack was stopped while the cluster was created.
    throw error
  }
  processes.afterwards(discard)
  return plan
}

async function bootBus(processes: Processes, options: DependencyOptions) {
  const { NATS_URL, NATS_MONITOR_URL } = options.own
  const { natsUrl, natsMonitor } = NATS_URL
    ? { natsUrl: NATS_URL, natsMonitor: NATS_MONITOR_URL ?? '' }
    : await startNats(processes, options)
  if (NATS_URL) {
    const signsIn = () => natsSignsIn(NATS_URL, options.secrets.nats.admin)
    await untilOwnAnswers(processes, 'NATS_URL', NATS_URL, signsIn)
  }
  const provision = () =>
    provisionNats({
      url: natsUrl,
      user: 'admin',
      password: options.secrets.nats.admin,
      replicas: Number(options.own.NATS_REPLICAS ?? 1),
      ackWaitMs: options.ackWaitMs,
    })
  await unlessStopped(provision(), options.signal)
  return { natsUrl, natsMonitor, provision }
}

async function startNats(processes: Processes, options: DependencyOptions) {
  if (!options.kept) emptyFolder(join(options.dir, 'nats'))
  const port = await options.choosePort('nats')
  const monitorPort = await options.choosePort('monitor')
  const plan = planNats({ dir: options.dir, port, monitorPort, passwords: options.secrets.nats })
  processes.add(onDisk(plan, options))
  const natsMonitor = `http://127.0.0.1:${monitorPort}`
  await processes.until('nats-server to be ready', () => natsAnswers(natsMonitor))
  return { natsUrl: `nats://127.0.0.1:${port}`, natsMonitor }
}

/** Returns the chain. The user's own chain must be an anvil. */
async function bootChain(processes: Processes, options: DependencyOptions) {
  const { RPC_URL } = options.own
  const rpcUrl = RPC_URL || (await startChain(processes, options))
  const answers = () => chainAnswers(rpcUrl)
  if (RPC_URL) {
    await untilOwnAnswers(processes, 'RPC_URL', RPC_URL, answers)
    await assertOwnChain(RPC_URL)
  } else await processes.until('the chain to respond', answers)
  const { kept } = options
  if (kept) {
    if (!(await hasContracts(rpcUrl, kept.deployment)))
      throw new StartFault(
        'the contracts of the last run are not on the chain',
        'Start without --keep to discard the old data.',
      )
    return { rpcUrl, chainId: localChainId, deployment: kept.deployment }
  }
  const { wallets, terms } = options
  const laid = layChain({ rpcUrl, laneKeys, wallets, terms })
  const deployment = await unlessStopped(laid, options.signal)
  return { rpcUrl, chainId: localChainId, deployment }
}

async function startChain(processes: Processes, options: DependencyOptions): Promise<string> {
  const port = await options.choosePort('chain')
  if (!options.kept) rmSync(keptChainDir(options.dir), { recursive: true, force: true })
  const plan = options.leaves ? planKeptChain : planChain
  processes.add(plan({ dir: options.dir, port }))
  return `http://127.0.0.1:${port}`
}
