import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { natsAnswers } from '#infra/local/nats'
import { postgresAnswers } from '#infra/local/postgres'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { hasEnded, signalAll, withChildren } from '../../support/processes'
import { suspend } from '../../support/wait'
import { type Disk, moveToDisk } from './disk'

export const stores = ['postgres', 'nats-server'] as const
/** A process that must lose nothing acknowledged in a power cut. */
export type Store = (typeof stores)[number]

/** The power of a stack's stores, of which each has a disk of its own. */
export type Power = Disposable & {
  readonly dirOf: Readonly<Record<Store, string>>
  /** Cuts the power of stores at one moment: what they have not synced is gone. They stay down until `on`. */
  readonly cut: (...which: readonly Store[]) => Promise<void>
  /** Starts stores from their disks as the cut left them. */
  readonly on: (...which: readonly Store[]) => Promise<void>
  readonly stop: (store: Store) => Promise<void>
  readonly start: (store: Store, withinMs?: number) => Promise<void>
}

const stopSignals = { postgres: 'SIGINT', 'nats-server': 'SIGTERM' } as const

/** Moves the stores of a stack to disks. It must have been started `durable`. Needs root and loop devices. */
export async function openPower(stack: Stack, sql: Sql): Promise<Power> {
  const work = mkdtempSync(join(tmpdir(), 'power-'))
  const [{ dataDir }] = await sql<[{ dataDir: string }]>`select current_setting('data_directory') as "dataDir"`
  const dirOf = { postgres: dataDir, 'nats-server': join(stack.dir, 'nats') }
  const disks = new Map<Store, Disk>()
  const answers = {
    postgres: () => postgresAnswers(stack.adminUrl),
    'nats-server': () => natsAnswers(stack.info.nats.monitor),
  }
  const stop = (store: Store) => stack.process(store).stop(stopSignals[store])
  const start = async (store: Store, withinMs = 60_000) => {
    stack.process(store).start()
    await waitUntil(store, answers[store], withinMs)
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  const close = () => {
    for (const disk of disks.values()) disk[Symbol.dispose]()
    disks.clear()
    rmSync(work, { recursive: true, force: true })
    for (const signal of signals) process.off(signal, leave)
  }
  const leave = () => {
    close()
    process.exit(1)
  }
  // A run that is stopped leaves no disk, also if it is told twice.
  for (const signal of signals) process.on(signal, leave)
  try {
    for (const store of stores) {
      await stop(store)
      disks.set(store, moveToDisk(dirOf[store], join(work, `${store}.img`)))
      await start(store)
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    dirOf,
    stop,
    start,
    cut: async (...which) => {
      const parents = which.map((store) => stack.process(store).pid())
      await suspend(...parents)
      const pids = withChildren(parents)
      for (const store of which) disks.get(store)!.cut()
      const stopped = which.map((store) => stack.process(store).stop('SIGKILL'))
      signalAll(pids.toReversed(), 'SIGKILL')
      await Promise.all(stopped)
      await waitUntil('the stores being gone', () => pids.every(hasEnded), 30_000)
    },
    on: async (...which) => {
      for (const store of which) disks.get(store)!.mountAgain()
      await Promise.all(which.map((store) => start(store)))
    },
    [Symbol.dispose]: close,
  }
}
