import { drainMicrotasks } from 'bun:jsc'
import type { Database } from '#shared/db/open'
import { Rows } from '../rows/rows'
import { beginsAt } from '../world/world'

/** What something outside of a process answered, once. */
type Said = { readonly value: unknown } | { readonly error: Error }

/** Work of a copy under way: what it is about, and all that it was answered so far. */
export type Task = {
  readonly copy: number
  readonly about: string
  /** What it is about had been delivered before, when this copy was given it. */
  readonly isAgain?: boolean
  readonly said: readonly Said[]
  /** What it came to; undefined while it waits for an answer. */
  readonly outcome?: 'done' | 'again'
}

/** Everything there is at one moment, as values: what is stored, what is under way, what is outside. */
export type Moment<Outside> = {
  readonly rows: readonly (readonly [string, unknown][])[]
  readonly outside: Outside
  readonly tasks: readonly Task[]
}

/**
 * How a copy reaches what is outside of it: one answer at a time. An answer that is `constant`, which
 * changes nothing and can never be another one, is there at once: when it comes makes no difference,
 * and a copy that is killed before it or after it leaves the same behind.
 */
export type Reach = <T>(effect: () => T, constant?: boolean) => Promise<T>

/**
 * Lets the services' own verbs take one step at a time. A task is what it was answered: to go on from
 * any moment, the verb is begun anew, is given the same answers, and waits at the next question. So a
 * moment can be left in as many ways as there are, which a promise cannot.
 */
export class Stage<Outside> {
  nowMs = beginsAt
  readonly rows = new Rows(() => this.nowMs)
  outside!: Outside
  tasks: Task[] = []

  /** Makes a copy whose lists may be changed; what is in them is only ever replaced. */
  constructor(private readonly copyOf: (outside: Outside) => Outside) {}

  /** Takes the steps that may as well come at once: see where it is set. */
  settle: () => void = () => {}

  /** Which of several ways an effect takes, and how many it has. */
  way = 0
  ways = 1

  load({ rows, outside, tasks }: Moment<Outside>): void {
    this.rows.load(rows)
    this.outside = this.copyOf(outside)
    this.tasks = [...tasks]
  }
  /** One copy is as good as the other: the first that works on something is the first. */
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

  /** One of so many ways that something outside may go. */
  choose(ways: number): number {
    this.ways = ways
    return this.way
  }

  /** Gives a task its next answer, and lets it run to the question after that. */
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

  /** The database as a task has it. */
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

/** A value that is never changed as a short text, which is made once. */
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

/** All rows of a table as text, which is made once for as long as nothing is written. */
function textOfTable(entries: readonly [string, unknown][]): string {
  const known = texts.get(entries)
  if (known !== undefined) return known
  const written = entries.map(([key, row]) => `${key}=${textOf(row)}`)
  const whole = (written.length > 1 ? written.sort() : written).join(';')
  const text = shortOf(whole)
  texts.set(entries, text)
  return text
}

/** A moment as text: the same for the same moment, in whatever order its rows were written. */
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

/** Timers do not run in a walk: whatever takes long is a step of its own. */
export function withoutTimers(): void {
  globalThis.setTimeout = (() => 0) as never
  globalThis.clearTimeout = (() => {}) as never
  globalThis.setImmediate = (() => 0) as never
}

/** Nobody reads what is logged. */
export const noLog = {
  ...{ trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
} as never
