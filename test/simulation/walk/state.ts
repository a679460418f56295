import { drainMicrotasks } from 'bun:jsc'
import type { Database } from '#platform/db/open'
import { Rows } from '../rows/rows'
import { beginsAt } from '../world/world'

type CallResult = { readonly value: unknown } | { readonly error: Error }

export type Task = {
  readonly copy: number
  readonly about: string
  readonly said: readonly CallResult[]
  readonly outcome?: 'done' | 'again'
}

export type Moment<Outside> = {
  readonly rows: readonly (readonly [string, unknown][])[]
  readonly outside: Outside
  readonly tasks: readonly Task[]
}

/**
 * Reaches outside, one response at a time. A `constant` response changes nothing and is always the same, so it arrives
 * at once.
 */
export type Reach = <T>(effect: () => T, constant?: boolean) => Promise<T>

/**
 * A stage runs the services' code one step at a time. A task is stored as its responses: to continue from any state,
 * its function is called again with them and stops at the next request.
 */
export class Stage<Outside> {
  nowMs = beginsAt
  readonly rows = new Rows(() => this.nowMs)
  outside!: Outside
  tasks: Task[] = []

  /** Opens a stage, in which `copyOf` copies a state's lists; items are replaced, never changed. */
  constructor(private readonly copyOf: (outside: Outside) => Outside) {}

  /** Takes steps that may happen at once. */
  settle: () => void = () => {}

  /** Chosen way of an effect; `ways` is the number of ways. */
  way = 0
  ways = 1

  load({ rows, outside, tasks }: Moment<Outside>): void {
    this.rows.load(rows)
    this.outside = this.copyOf(outside)
    this.tasks = [...tasks]
  }
  /** Saves the moment. Instances are interchangeable, so they are numbered by their first task. */
  save(): Moment<Outside> {
    this.settle()
    this.tasks.sort((left, right) => (`${left.about} ${left.copy}` < `${right.about} ${right.copy}` ? -1 : 1))
    const names = [...new Set(this.tasks.map(({ copy }) => copy))]
    const tasks = this.tasks.map((task) => {
      const copy = names.indexOf(task.copy)
      return copy === task.copy ? task : { ...task, copy }
    })
    return { rows: this.rows.snapshot(), outside: this.outside, tasks }
  }

  choose(ways: number): number {
    this.ways = ways
    return this.way
  }

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

function answerOf(effect: () => unknown): CallResult {
  try {
    return { value: effect() }
  } catch (error) {
    return { error: error as Error }
  }
}

const texts = new WeakMap<object, string>()

const shortOf = (text: string): string => (text.length < 40 ? text : Bun.hash.wyhash(text).toString(36))

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

/** Returns the text of a table, which is computed once until the next write. */
function textOfTable(entries: readonly [string, unknown][]): string {
  const known = texts.get(entries)
  if (known !== undefined) return known
  const written = entries.map(([key, row]) => `${key}=${textOf(row)}`)
  const whole = (written.length > 1 ? written.sort() : written).join(';')
  const text = shortOf(whole)
  texts.set(entries, text)
  return text
}

/** Returns a key that is equal for equal states, in whatever order rows were written. */
export function keyOf<Outside extends object>({ rows, outside, tasks }: Moment<Outside>): string {
  const tables = rows.map(textOfTable)
  const working = tasks.map(
    ({ copy, about, said, outcome }) => `${copy} ${about} ${outcome} ${said.map((one) => textOf(one)).join()}`,
  )
  const around = Object.values(outside).map((value) =>
    Array.isArray(value) ? value.map(textOf).join() : textOf(value),
  )
  return `${tables.join('|')} ${around.join('|')} ${working.join('|')}`
}

/** Removes timers, because everything slow is a step of a walk. */
export function withoutTimers(): void {
  globalThis.setTimeout = (() => 0) as never
  globalThis.clearTimeout = (() => {}) as never
  globalThis.setImmediate = (() => 0) as never
}

export const noLog = {
  alarm: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
} as never
