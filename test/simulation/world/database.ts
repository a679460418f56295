import { drainMicrotasks } from 'bun:jsc'
import type { Database } from '#platform/db/open'
import { reading, writing } from './faults'
import type { Process, World } from './world'

type Listener = Parameters<Database['listen']>[0]

/** Returns the result of a transaction, which may wait only for the rows. */
function settled<T>(work: PromiseLike<T>): T {
  let outcome: { value: T } | { error: unknown } | undefined
  work.then(
    (value) => {
      outcome = { value }
    },
    (error: unknown) => {
      outcome = { error }
    },
  )
  drainMicrotasks()
  if (!outcome) throw new Error('a transaction waits for something outside of it')
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

export function databaseOf(world: World, process: Process): Database {
  const { rows } = world
  const handle = rows as never
  const listeners = new Set<Listener>()
  const commit = <T>(work: (tx: never) => Promise<T>) => {
    rows.undo = []
    rows.notes = listeners.size > 0 ? [] : undefined
    try {
      const value = settled(work(handle))
      return { value, notes: rows.notes ?? [] }
    } catch (error) {
      for (const takeBack of rows.undo.reverse()) takeBack()
      throw error
    } finally {
      rows.undo = undefined
      rows.notes = undefined
    }
  }
  return {
    read: (work) => world.leave(process, reading, 'reads rows', () => settled(work(handle))),
    run: (work) => world.leave(process, writing, 'writes a row', () => commit(async (tx) => work(tx)).value),
    transaction: async (work) => {
      const { value, notes } = await world.leave(process, writing, 'commits', () => commit(async (tx) => work(tx)))
      for (const listener of listeners) for (const note of notes) listener(note)
      return value
    },
    listen: (listener) => void listeners.add(listener),
    [Symbol.asyncDispose]: async () => {},
  }
}
