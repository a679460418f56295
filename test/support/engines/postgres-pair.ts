import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { type Child, type Command, startChild } from '#infra/local/child'
import { asRoot, nobodyUid } from '#infra/local/folders'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { signalAll, withChildren } from '../processes'
import { resume, suspend } from '../wait'
import { copy, takeBaseBackup } from './base-backup'

type Machine = {
  readonly port: number
  readonly adminUrl: string
  /** Folder of the data, which is lost with the machine. */
  readonly home: string
  readonly child: Child
}

export type PostgresPair = AsyncDisposable & {
  /** URL of both machines, standby first; it leads to the one that accepts writes. */
  readonly urlAs: (role: string, password: string) => string
  readonly adminUrl: string
  readonly onPrimary: <T>(ask: (sql: Sql) => Promise<T>) => Promise<T>
  /** Kills the primary, whose disk is never used again. */
  readonly killPrimary: () => Promise<void>
  /** Freezes the standby until it is resumed. */
  readonly suspendStandby: () => Promise<void>
  readonly resumeStandby: () => void
  /** Promotes the standby, which is allowed only if the old primary cannot return. */
  readonly promote: () => Promise<void>
  /** Adds a standby, without which the primary then confirms nothing. */
  readonly addStandby: () => Promise<void>
}

const password = 'admin'
const urlOf = (port: number) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`

/** Starts a primary and a synchronous standby, on free ports and in folders of their own. */
export async function startPostgresPair(options: { durable: boolean }): Promise<PostgresPair> {
  const dir = mkdtempSync(join(tmpdir(), 'postgres-pair-'))
  mkdirSync(join(dir, 'logs'))
  const ports = [await freePort(), await freePort()] as const
  const plan = await planPostgres({ dir, port: ports[0], password, ...options })
  let primary: Machine = {
    port: ports[0],
    adminUrl: plan.adminUrl,
    home: plan.home,
    child: startChild(plan.command),
  }
  await answering(primary)
  let standby: Machine | undefined = await follow(primary, plan.command, ports[1])
  const hosts = ports.toReversed().map((port) => `127.0.0.1:${port}`)
  const urlAs = (role: string, word: string) =>
    `postgres://${role}:${encodeURIComponent(word)}@${hosts}/postgres?target_session_attrs=read-write`
  const rest = [primary, standby]
  return {
    urlAs,
    adminUrl: urlAs('postgres', password),
    onPrimary: (ask) => asking(primary, ask),
    killPrimary: () => endNow(primary),
    suspendStandby: async () => standby && (await suspend(standby.child.pid)),
    resumeStandby: () => standby && resume(standby.child.pid),
    promote: async () => {
      if (!standby) throw new Error('there is no standby')
      primary = standby
      standby = undefined
      await asking(primary, (sql) => sql`select pg_promote(true, 30)`)
    },
    addStandby: async () => {
      const free = ports.find((port) => port !== primary.port)!
      standby = await follow(primary, plan.command, free)
      rest.push(standby)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(rest.map(endNow))
      for (const path of [...rest.map(({ home }) => home), dir]) rmSync(path, { recursive: true, force: true })
    },
  }
}

const answering = ({ adminUrl }: Machine) => waitUntil('Postgres answering', () => postgresAnswers(adminUrl))

async function asking<T>({ adminUrl }: Machine, ask: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Application name of the standby at the primary. */
const standbyName = 'standby'

/** Starts a standby from a running primary and makes it synchronous. */
async function follow(primary: Machine, command: Command, port: number): Promise<Machine> {
  const home = mkdtempSync(join(tmpdir(), 'postgres-standby-'))
  const data = join(home, 'data')
  {
    using backup = await takeBaseBackup(primary)
    await copy(backup.copied, data)
  }
  const signal = join(data, 'standby.signal')
  writeFileSync(signal, '')
  if (asRoot) for (const path of [home, signal]) chownSync(path, nobodyUid, nobodyUid)
  chmodSync(home, 0o700)
  const source = `host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=${standbyName}`
  const args = command.args.map((word, at) => (command.args[at - 1] === '-D' ? data : word))
  const child = startChild({
    ...command,
    args: [...args, '-c', `port=${port}`, '-c', `primary_conninfo=${source}`],
  })
  const standby = { port, adminUrl: urlOf(port), home, child }
  await answering(standby)
  await asking(primary, async (sql) => {
    await sql`alter system set synchronous_standby_names = ${sql.unsafe(standbyName)}`
    await sql`select pg_reload_conf()`
    await waitUntil('the standby following', async () => {
      const [row] = await sql`select 1 from pg_stat_replication where sync_state = 'sync'`
      return row !== undefined
    })
  })
  return standby
}

/** Ends a machine as a power cut does. */
async function endNow(machine: Machine): Promise<void> {
  signalAll(withChildren([machine.child.pid]), 'SIGKILL')
  await machine.child.exited
}
