import { drainMicrotasks } from 'bun:jsc'
import { Rows } from '../rows/rows'
import { type Choices, choiceMax, oneOf } from './choices'
import { acknowledging, type Effect, type Fault, faultOf, latencyOf, sightOf, writing } from './faults'

/** A process; a restart is another one. */
export type Process = {
  readonly service: string
  readonly name: string
  isAlive: boolean
  frozenUntil: number
}

type Entry = {
  readonly at: number
  readonly order: number
  readonly process: Process | undefined
  /** Runs the effect; `isAnswered` is false if the process has ended. */
  readonly run: (isAnswered: boolean) => void
  readonly isOutside: boolean
  isCancelled: boolean
}

/** Start of a world in Unix ms. */
export const beginsAt = Date.UTC(2026, 10, 2, 9, 0, 0)

/**
 * A world, whose clock only moves from one event to the next. Each effect that leaves a process is one event: it may be
 * slow, fail before or after it acts, crash its process or find it gone.
 */
export class World {
  now = beginsAt
  readonly rows: Rows
  /** Process that owns new timers. */
  current: Process | undefined
  calmFrom = Number.POSITIVE_INFINITY
  /** Digest that is equal for identical runs. */
  digest = 0
  steps = 0
  #heap: Entry[] = []
  #order = 0

  constructor(
    readonly choices: Choices,
    readonly story: ((line: string) => void) | undefined,
    readonly saw: (sight: string) => void,
    readonly onCrash: (process: Process) => void,
  ) {
    this.rows = new Rows(() => this.now, saw)
  }

  get isCalm(): boolean {
    return this.now >= this.calmFrom
  }

  /** Errors that no fault causes. */
  readonly bugs = new Set<string>()

  noteBug(error: unknown): void {
    const kinds = [TypeError, RangeError, ReferenceError, SyntaxError]
    if (kinds.some((kind) => error instanceof kind)) this.bugs.add(String(error))
  }

  tell(line: string): void {
    this.story?.(`${((this.now - beginsAt) / 1_000).toFixed(3).padStart(9)} s  ${line}`)
  }

  after(ms: number, process: Process | undefined, run: () => void): Entry {
    return this.#push(ms, process, run, false)
  }

  #push(ms: number, process: Process | undefined, run: Entry['run'], isOutside: boolean): Entry {
    const at = this.now + Math.max(0, ms)
    const entry = { at, order: this.#order++, process, run, isOutside, isCancelled: false }
    this.#sink(entry)
    return entry
  }

  cancel(entry: Entry | undefined): void {
    if (entry) entry.isCancelled = true
  }

  /**
   * Makes an effect leave a process: a statement, a call or a message. It is atomic, unless a fault is drawn for it.
   */
  leave<T>(process: Process, kind: Effect, what: string, effect: () => T): Promise<T> {
    const drawn = this.choices.draw()
    const fault: Fault = this.isCalm ? 'none' : faultOf(kind, drawn)
    return new Promise<T>((resolve, reject) => {
      this.#push(
        latencyOf(kind, drawn, this.isCalm),
        process,
        (isAnswered) => this.#happen({ process, kind, what, fault, isAnswered }, effect, resolve, reject),
        true,
      )
    })
  }

  #happen<T>(
    { process, kind, what, fault, isAnswered }: Leaving,
    effect: () => T,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): void {
    this.#count(process, kind, fault)
    if (fault !== 'none') this.saw(sightOf(kind, fault))
    if (this.story && (fault !== 'none' || kind.isTold))
      this.tell(`${process.name}: ${what}${fault === 'none' ? '' : `: ${fault}`}`)
    if (kind === acknowledging && fault.startsWith('crash'))
      this.saw('a process was killed between the commit and the acknowledgement')
    if (fault === 'crash before') this.crash(process)
    else if (fault === 'freeze') this.freeze(process)
    const refusal = kind.refusalOf(fault, what)
    const isDone = fault !== 'crash before' && refusal?.isDone !== false
    let tell = () => refusal && reject(refusal.error)
    if (isDone)
      try {
        const value = effect()
        if (!refusal) tell = () => resolve(value) as undefined
      } catch (error) {
        this.noteBug(error)
        tell = () => reject(error) as undefined
      }
    if (fault === 'crash after') this.crash(process)
    if (kind === writing && refusal?.isDone) this.saw('a commit was applied and its response lost')
    if (isAnswered && process.isAlive) tell()
  }

  /** Crashes a process, whose pending requests may still arrive. */
  crash(process: Process): void {
    if (!process.isAlive) return
    process.isAlive = false
    this.tell(`${process.name} is killed`)
    this.onCrash(process)
  }

  freeze(process: Process): void {
    const ms = 500 + oneOf(this.choices, 14_500)
    process.frozenUntil = this.now + ms
    this.saw('a process was frozen and resumed')
    this.tell(`${process.name} is frozen for ${ms} ms`)
  }

  #count(process: Process, kind: Effect, fault: Fault): void {
    const word = Math.imul(this.digest, 31) + process.name.length * 7 + kind.number
    this.digest = (word + fault.length + (this.now & 0xffffff)) | 0
  }

  step(): boolean {
    const entry = this.#next()
    if (!entry) return false
    if (entry.isCancelled) return true
    const { process } = entry
    if (process?.isAlive && process.frozenUntil > entry.at) {
      this.#push(process.frozenUntil - this.now, process, entry.run, entry.isOutside)
      return true
    }
    this.now = Math.max(this.now, entry.at)
    this.steps += 1
    const isGone = process && !process.isAlive
    if (isGone) {
      if (!(entry.isOutside && this.choices.draw() >= choiceMax / 2)) return true
      this.saw('a request of a killed process still arrived')
    }
    this.current = process
    entry.run(!isGone)
    drainMicrotasks()
    this.current = undefined
    return true
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(entry)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(entry, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = entry
  }

  #next(): Entry | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let at = 0
    while (true) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
    return first
  }
}

type Leaving = {
  readonly process: Process
  readonly kind: Effect
  readonly what: string
  readonly fault: Fault
  readonly isAnswered: boolean
}

const isBefore = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order)
