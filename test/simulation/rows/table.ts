import { getTableColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { DatabaseRefused, type Db } from '#platform/db/open'

/** Returns the nulls that an insert without these columns stores. */
export const nullsOf = (table: PgTable): Record<string, null> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).flatMap(([name, { notNull }]) => (notNull ? [] : [[name, null]])),
  )

/** Undoes a change of a transaction that does not commit. */
type Undo = () => void

/** Keys of a row by index; undefined leaves the row out of that index. */
export type Indices<Row, Name extends string> = {
  readonly [N in Name]: (row: Row) => string | undefined
}

/** Number of rows from which an index is used; a scan of fewer is cheaper. */
const indexedFrom = 8

/**
 * A table, whose rows are replaced and never changed, so a reader keeps its version. Indices are built at first use.
 */
export class Table<Row, Name extends string = never> {
  #rows = new Map<string, Row>()
  #loaded: readonly [string, Row][] | undefined
  #isRead = true
  readonly #kept = new Map<Name, Map<string, Map<string, Row>>>()
  constructor(
    private readonly transaction: { undo: Undo[] | undefined },
    private readonly indices: Indices<Row, Name>,
  ) {}

  get size(): number {
    return this.#all().size
  }
  get(key: string): Row | undefined {
    return this.#all().get(key)
  }
  has(key: string): boolean {
    return this.#all().has(key)
  }
  values(): IterableIterator<Row> {
    return this.#all().values()
  }
  /** Returns the rows that fit, in the order of insertion. */
  where(fits: (row: Row) => boolean): Row[] {
    const found: Row[] = []
    for (const row of this.#all().values()) if (fits(row)) found.push(row)
    return found
  }
  find(fits: (row: Row) => boolean): Row | undefined {
    for (const row of this.#all().values()) if (fits(row)) return row
    return undefined
  }
  /** Returns the rows with a key, in the order in which they got it. */
  by(name: Name, text: string): Row[] {
    if (this.#all().size < indexedFrom && !this.#kept.has(name)) {
      const textOf = this.indices[name]
      return this.where((row) => textOf(row) === text)
    }
    const group = this.#groupsOf(name).get(text)
    return group ? [...group.values()] : []
  }
  textsOf(name: Name): IterableIterator<string> {
    return this.#groupsOf(name).keys()
  }
  set(key: string, row: Row): Row {
    const before = this.#all().get(key)
    this.transaction.undo?.push(() => this.#put(key, row, before))
    this.#put(key, before, row)
    return row
  }
  insert(key: string, row: Row): boolean {
    if (this.#all().has(key)) return false
    this.set(key, row)
    return true
  }
  update(key: string, change: Partial<Row>): Row | undefined {
    const row = this.#all().get(key)
    return row && this.set(key, { ...row, ...change })
  }
  /** Swaps two rows, which works only outside a transaction. */
  swap(one: string, other: string): void {
    const [first, second] = [this.#all().get(one), this.#all().get(other)]
    this.#put(one, first, second)
    this.#put(other, second, first)
  }
  entries(): readonly [string, Row][] {
    this.#loaded ??= [...this.#rows]
    return this.#loaded
  }
  load(entries: readonly [string, Row][]): void {
    if (entries === this.#loaded) return
    this.#loaded = entries
    this.#isRead = false
    if (this.#kept.size > 0) this.#kept.clear()
  }

  #all(): Map<string, Row> {
    if (this.#isRead) return this.#rows
    this.#rows = new Map(this.#loaded)
    this.#isRead = true
    return this.#rows
  }

  #put(key: string, before: Row | undefined, row: Row | undefined): void {
    this.#loaded = undefined
    if (row === undefined) this.#all().delete(key)
    else this.#all().set(key, row)
    for (const [name, groups] of this.#kept) {
      const textOf = this.indices[name]
      const was = before === undefined ? undefined : textOf(before)
      const is = row === undefined ? undefined : textOf(row)
      if (was !== undefined && was !== is) {
        const group = groups.get(was)!
        group.delete(key)
        if (group.size === 0) groups.delete(was)
      }
      if (is !== undefined) addTo(groups, is, key, row!)
    }
  }

  #groupsOf(name: Name): Map<string, Map<string, Row>> {
    const known = this.#kept.get(name)
    if (known) return known
    const groups = new Map<string, Map<string, Row>>()
    const textOf = this.indices[name]
    for (const [key, row] of this.#all()) {
      const text = textOf(row)
      if (text !== undefined) addTo(groups, text, key, row)
    }
    this.#kept.set(name, groups)
    return groups
  }
}

function addTo<Row>(groups: Map<string, Map<string, Row>>, text: string, key: string, row: Row) {
  const group = groups.get(text)
  if (group) group.set(key, row)
  else groups.set(text, new Map([[key, row]]))
}

const spanMs = 4_000
/** Least distance ahead of now, in ms, at which a stored time may count as over. */
const soonMs = 3_600_000

export const dueIn = (time: Date | null): string | undefined =>
  time === null ? undefined : String(Math.floor(time.getTime() / spanMs))

/** Returns true if a time is over; see `isOver` in `shared/platform/db/columns.ts`. */
export const isOver = (time: number, longestMs: number, now: number): boolean =>
  time <= now || time > now + 2 * longestMs

export function dueBy<Row, Name extends string>(
  table: Table<Row, Name>,
  name: Name,
  now: Date,
  timeOf: (row: Row) => Date | null,
  longestMsOf: (row: Row) => number = () => Number.POSITIVE_INFINITY,
): Row[] {
  const found: Row[] = []
  const isRowOver = (row: Row) => isOver(timeOf(row)!.getTime(), longestMsOf(row), now.getTime())
  const span = Math.floor(now.getTime() / spanMs)
  const soon = Math.floor((now.getTime() + soonMs) / spanMs)
  for (const text of table.textsOf(name)) {
    if (Number(text) > span && Number(text) < soon) continue
    found.push(...table.by(name, text).filter(isRowOver))
  }
  return found
}

/** A time from now, as a query parameter. */
export class FromNow {
  constructor(readonly ms: number) {}
}

export type StandIn<F> = F extends (...given: infer Given) => infer Answer
  ? (...given: Given) => Answer extends PromiseLike<unknown> ? Promise<Awaited<Answer>> : Answer
  : never

export const nothing = undefined as never

/** The error of a statement `orFail`. */
export const tooLate = () => new DatabaseRefused('division by zero', '22012')

/** Returns the handle that services pass on. */
export const handleOf = (rows: object): Db => rows as Db
