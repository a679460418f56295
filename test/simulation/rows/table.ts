import type { Db } from '#shared/db/open'

/** A change that a transaction has to take back when it does not commit. */
type Undo = () => void

/** What rows are looked for by: a text of each, or undefined for those that nobody looks for so. */
export type Indices<Row, Name extends string> = {
  readonly [N in Name]: (row: Row) => string | undefined
}

/** Fewer rows than these are looked through: keeping an index of them costs more. */
const indexedFrom = 8

/**
 * Rows of one table by their key. A row is never changed, only replaced, so a reader keeps what it
 * read. What a transaction writes is taken back when it fails. An index is kept from when it is first
 * asked for.
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
  /** Those that fit, in the order in which they were first stored. */
  where(fits: (row: Row) => boolean): Row[] {
    const found: Row[] = []
    for (const row of this.#all().values()) if (fits(row)) found.push(row)
    return found
  }
  find(fits: (row: Row) => boolean): Row | undefined {
    for (const row of this.#all().values()) if (fits(row)) return row
    return undefined
  }
  /** Those that have this text in an index, in the order in which they came to have it. */
  by(name: Name, text: string): Row[] {
    if (this.#all().size < indexedFrom && !this.#kept.has(name)) {
      const textOf = this.indices[name]
      return this.where((row) => textOf(row) === text)
    }
    const group = this.#groupsOf(name).get(text)
    return group ? [...group.values()] : []
  }
  /** Every text of an index that some row has. */
  textsOf(name: Name): IterableIterator<string> {
    return this.#groupsOf(name).keys()
  }
  set(key: string, row: Row): Row {
    const before = this.#all().get(key)
    this.transaction.undo?.push(() => this.#put(key, row, before))
    this.#put(key, before, row)
    return row
  }
  /** A row of a new key: false when the key is taken. */
  insert(key: string, row: Row): boolean {
    if (this.#all().has(key)) return false
    this.set(key, row)
    return true
  }
  /** Replaces a row by the same with some fields changed; undefined when there is none. */
  update(key: string, change: Partial<Row>): Row | undefined {
    const row = this.#all().get(key)
    return row && this.set(key, { ...row, ...change })
  }
  /** Gives each of two keys what the other had, outside of a transaction. */
  swap(one: string, other: string): void {
    const [first, second] = [this.#all().get(one), this.#all().get(other)]
    this.#put(one, first, second)
    this.#put(other, second, first)
  }
  /** All of it; the same list as long as nothing is written. */
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

  /** The rows; those that were loaded are only put in here when somebody asks for one. */
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

/** Times by which rows are looked for are told apart by so much. */
const spanMs = 4_000

/** The span of time that a row is due in, for an index; undefined when it is never due. */
export const dueIn = (time: Date | null): string | undefined =>
  time === null ? undefined : String(Math.floor(time.getTime() / spanMs))

/** Of a table those that are due, by an index that `dueIn` made. */
export function dueBy<Row, Name extends string>(
  table: Table<Row, Name>,
  name: Name,
  now: Date,
  timeOf: (row: Row) => Date | null,
): Row[] {
  const found: Row[] = []
  const span = Math.floor(now.getTime() / spanMs)
  for (const text of table.textsOf(name)) {
    if (Number(text) > span) continue
    for (const row of table.by(name, text)) if (timeOf(row)! <= now) found.push(row)
  }
  return found
}

/** What is written where a query has its parameters from: the clock of the database. */
export class FromNow {
  constructor(readonly ms: number) {}
}

/** A function of a store as the simulation stands in for it: of the same arguments and answer. */
export type StandIn<F> = F extends (...given: infer Given) => infer Answer
  ? (...given: Given) => Promise<Awaited<Answer>>
  : never

/** The answer of a statement that answers nothing anybody reads. */
export const nothing = undefined as never

/** What the verbs of a service pass on as their database, or their transaction, is the rows here. */
export const handleOf = (rows: object): Db => rows as Db
