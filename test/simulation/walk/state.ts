import { drainMicrotasks } from 'bun:jsc'
import type { Database } from '#platform/db/open'
import { Rows } from '../rows/rows'
import { beginsAt } from '../world/world'

/** One response from outside the process. */
type Said = { readonly value: unknown } | { readonly error: Error }

/** A task of an instance: its subject, and the responses received. */
export type Task = {
  readonly copy: number
  readonly about: string
  /** The message had been delivered before. */
  readonly isAgain?: boolean
  readonly said: readonly Said[]
  /** Result of the task; undefined while it waits for a response. */
  readonly outcome?: 'done' | 'again'
}

/** A complete state, as values: stored rows, tasks in progress, outside world. */
export type Moment<Outside> = {
  readonly rows: readonly (readonly [string, unknown][])[]
  readonly outside: Outside
  readonly tasks: readonly Task[]
}

/**
 * Access of a task to the outside, one response at a time. A `constant` response, which changes
 * nothing and is always the same, arrives at once: its time makes no difference, not even to a
 * crash.
 */
export type Reach = <T>(effect: () => T, constant?: boolean) => Promise<T>

/**
 * Runs the services' own code one step at a time. A task is stored as the responses it had: to
 * continue from any state, its function is called again with the same responses and stops at the
 * next request. A promise could continue only once; this way a state can be left in every possible
 * way.
 */
export class Stage<Outside> {
  nowMs = beginsAt
  readonly rows = new Rows(() => this.nowMs)
  outside!: Outside
  tasks: Task[] = []

  /** `copyOf` copies the lists of a state; their items are replaced, never changed. */
  constructor(private readonly copyOf: (outside: Outside) => Outside) {}

  /** Takes the steps that may happen at once; each walk sets it. */
  settle: () => void = () => {}

  /** The chosen way of an effect with several, and their number. */
  way = 0
  ways = 1

  load({ rows, outside, tasks }: Moment<Outside>): void {
    this.rows.load(rows)
    this.outside = this.copyOf(outside)
    this.tasks = [...tasks]
  }
  /** Numbers the instances by their first task, because they are interchangeable. */
  save(): Moment<Outside> {
    this.settle()
    this.tasks.sort((left, right) =>
      `${left.about} ${left.copy}` < `${right.about} ${right.copy}` ? -1 : 1,
    )
    const names = [...new Set(this.tasks.map(({ copy }) => copy))]
    const tasks = this.tasks.map((task) => {
      const copy = names.indexOf(task.copy)
      return copy === task.copy ? task : { ...task, copy }
    })
    return { rows: this.rows.snapshot(), outside: this.outside, tasks }
  }

  /** Picks one of the ways in which an outside event may go. */
  choose(ways: number): number {
    this.ways = ways
    return this.way
  }

  /** Gives a task its next response and runs it to the request after that. */
  advance(at: number, begin: (reach: Reach) => Promise<unknown>): void {
    const task = this.tasks[at]!
    const said = [...task.said]
    let asked = 0
    let mayAnswer = true
    let isWaiting = false
    const reach: Reach = (effect, constant = false) => {
      const place = asked++
      if (place >= task.said.length) {
        if (isWaiting || !(constant || mayAnswer)) {
          isWaiting = true
          return new Promise(() => {})
        }
        if (!constant) mayAnswer = false
        said.push(answerOf(effect))
      }
      const answer = said[place]!
      if ('error' in answer) return Promise.reject(answer.error)
      return Promise.resolve(answer.value as never)
    }
    let outcome: Task['outcome']
    begin(reach).then(
      (value) => {
        outcome = value === 'done' || value === undefined ? 'done' : 'again'
      },
      () => {
        outcome = 'again'
      },
    )
    drainMicrotasks()
    if (!outcome && !isWaiting) throw new Error(`${task.about} waits for nothing`)
    this.tasks[at] = outcome ? { ...task, said: [], outcome } : { ...task, said }
  }

  /** Returns the database as a task sees it. */
  database(reach: Reach): Database {
    const { rows } = this
    const commit = <T>(work: (tx: never) => PromiseLike<T>): T => {
      rows.undo = []
      let outcome: { value: T } | { error: unknown } | undefined
      work(rows as never).then(
        (value) => {
          outcome = { value }
        },
        (error: unknown) => {
          outcome = { error }
        },
      )
      drainMicrotasks()
      const undo = rows.undo
      rows.undo = undefined
      if (outcome && 'value' in outcome) return outcome.value
      for (const takeBack of undo.reverse()) takeBack()
      throw outcome ? outcome.error : new Error('a transaction waits for something outside of it')
    }
    return {
      read: (work) => reach(() => commit(async (db: never) => work(db))),
      run: (work) => reach(() => commit(async (db: never) => work(db))),
      transaction: (work) => reach(() => commit(work as never)),
      listen: () => {},
      [Symbol.asyncDispose]: async () => {},
    } as Database
  }
}

function answerOf(effect: () => unknown): Said {
  try {
    return { value: effect() }
  } catch (error) {
    return { error: error as Error }
  }
}

const texts = new WeakMap<object, string>()

const shortOf = (text: string): string =>
  text.length < 40 ? text : Bun.hash.wyhash(text).toString(36)

/** Returns a short text of an immutable value, computed once. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const whole = JSON.stringify(value, (_, part) => {
    if (typeof part === 'bigint') return `${part}n`
    return part instanceof Error ? part.message : part
  })
  const text = shortOf(whole)
  texts.set(value, text)
  return text
}

/** Returns a text of all rows of a table, computed once until the next write. */
function textOfTable(entries: readonly [string, unknown][]): string {
  const known = texts.get(entries)
  if (known !== undefined) return known
  const written = entries.map(([key, row]) => `${key}=${textOf(row)}`)
  const whole = (written.length > 1 ? written.sort() : written).join(';')
  const text = shortOf(whole)
  texts.set(entries, text)
  return text
}

/** Returns a text that is equal for equal states, in whatever order their rows were written. */
export function keyOf<Outside extends object>({ rows, outside, tasks }: Moment<Outside>): string {
  const tables = rows.map(textOfTable)
  const working = tasks.map(
    ({ copy, about, isAgain, said, outcome }) =>
      `${copy} ${about} ${isAgain} ${outcome} ${said.map((one) => textOf(one)).join()}`,
  )
  const around = Object.values(outside).map((value) =>
    Array.isArray(value) ? value.map(textOf).join() : textOf(value),
  )
  return `${tables.join('|')} ${around.join('|')} ${working.join('|')}`
}

/** Disables timers: in a walk everything slow is a step of its own. */
export function withoutTimers(): void {
  globalThis.setTimeout = (() => 0) as never
  globalThis.clearTimeout = (() => {}) as never
  globalThis.setImmediate = (() => 0) as never
}

/** A log that discards everything. */
export const noLog = {
  ...{ trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
} as never
