import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, type Command, startChild } from '#infra/local/child'
import { natsAnswers, planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'
import { hasEnded, signalAll, withChildren } from '#test/support/processes'
import { suspend } from '#test/support/wait'
import { makeDisk } from './disk'

const engines = ['postgres', 'nats-server'] as const
export type Engine = (typeof engines)[number]

/** A machine with Postgres and nats-server on one disk, with a deployment's settings. */
export type Machine = AsyncDisposable & {
  readonly adminUrl: string
  readonly natsUrl: string
  readonly passwords: Readonly<Record<NatsUser, string>>
  readonly dataDir: string
  readonly storeDir: string
  /** Freezes both engines, drops unwritten data and ends them. */
  readonly cutPower: () => Promise<void>
  /** Starts both from the disk as the power cut left it. */
  readonly powerOn: () => Promise<void>
  readonly stop: (engine: Engine) => Promise<void>
  readonly start: (engine: Engine, withinMs?: number) => Promise<void>
  readonly logOf: (engine: Engine) => string
}

const password = 'admin'

export async function startMachine(): Promise<Machine> {
  const work = mkdtempSync(join(tmpdir(), 'powercut-'))
  chmodSync(work, 0o755) // Postgres runs as another user.
  const disk = makeDisk(work)
  const remove = () => rmSync(work, { recursive: true, force: true })
  // The engines end with this process, so that a stopped run leaves no mounted disk.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      disk.abandon()
      remove()
      process.exit(1)
    })
  mkdirSync(join(disk.dir, 'logs'))
  const passwords = Object.fromEntries(natsUsers.map((user, index) => [user, `${index}e5-${user}`])) as Record<
    NatsUser,
    string
  >
  const [port, natsPort, monitorPort] = [await freePort(), await freePort(), await freePort()]
  const { dir } = disk
  const plan = await planPostgres({ dir, port, password, durable: true })
  disk.sync() // A local cluster is created without sync, a deployment's with it.
  const nats = planNats({ dir, port: natsPort, monitorPort, passwords })
  const logOf = (engine: Engine) => join(work, `${engine}.log`)
  const commands: Record<Engine, Command> = {
    postgres: { ...plan.command, logFile: logOf('postgres') },
    'nats-server': { ...nats, logFile: logOf('nats-server') },
  }
  const answers: Record<Engine, () => Promise<boolean>> = {
    postgres: () => postgresAnswers(plan.adminUrl),
    'nats-server': () => natsAnswers(`http://127.0.0.1:${monitorPort}`),
  }
  const running = new Map<Engine, Child>()
  const start = async (engine: Engine, withinMs = 60_000) => {
    running.set(engine, startChild(commands[engine]))
    await waitUntil(engine, answers[engine], withinMs)
  }
  const stop = async (engine: Engine) => {
    await running.get(engine)?.end(engine === 'postgres' ? 'SIGINT' : 'SIGTERM', 30_000)
    running.delete(engine)
  }
  await Promise.all(engines.map((engine) => start(engine)))
  return {
    adminUrl: plan.adminUrl,
    natsUrl: `nats://127.0.0.1:${natsPort}`,
    passwords,
    dataDir: plan.dataDir,
    storeDir: join(dir, 'nats'),
    start,
    stop,
    logOf: (engine) => readFileSync(logOf(engine), 'utf8'),
    cutPower: async () => {
      const parents = [...running.values()].map(({ pid }) => pid)
      await suspend(...parents)
      const pids = withChildren(parents)
      disk.cut()
      signalAll(pids.toReversed(), 'SIGKILL')
      await Promise.all([...running.values()].map(({ exited }) => exited))
      await waitUntil('the engines being gone', () => pids.every(hasEnded), 30_000)
    },
    powerOn: async () => {
      disk.mountAgain()
      await Promise.all(engines.map((engine) => start(engine)))
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(engines.map(stop))
      disk[Symbol.dispose]()
      remove()
    },
  }
}
