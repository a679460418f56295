import type { Sql } from 'postgres'

/** Schemas whose journals are sealed. */
export const sealedJournals = ['payments', 'payouts', 'chain_relayer', 'books'] as const
type Journal = (typeof sealedJournals)[number]

type Seal = {
  readonly number: number
  /** Transactions whose lines it has: from this one to before the other. The first seal also has the lines of before. */
  readonly from: string
  readonly to: string
  readonly lines: number
  readonly hash: string
}

/** Lines read at a time. */
const pageLines = 2_000

/** Reads the lines of a range of transactions in a stable order, and returns their hash with that of the seal before. */
async function hashOf(
  tx: Sql,
  journal: Journal,
  { number, from, to, previous }: Pick<Seal, 'number' | 'from' | 'to'> & { previous: string },
): Promise<Pick<Seal, 'lines' | 'hash'>> {
  const hasher = new Bun.CryptoHasher('sha256')
  hasher.update(JSON.stringify([previous, journal, number, from, to]))
  let lines = 0
  const pages = tx<{ line: string }[]>`
    select jsonb_build_array(posting, line, event, item, account, asset, amount::text, reverses,
      extract(epoch from booked_at)::text, booked_in)::text as line
    from ${tx(journal)}.journal
    where ${number === 1 ? tx`booked_in is null or booked_in < ${to}` : tx`booked_in >= ${from} and booked_in < ${to}`}
    order by posting collate "C", line`.cursor(pageLines)
  for await (const page of pages)
    for (const { line } of page) {
      hasher.update(`\n${line}`)
      lines++
    }
  return { lines, hash: hasher.digest('hex') }
}

const readSeals = (tx: Sql, journal: Journal) => tx<Seal[]>`
  select number, from_transaction::text as from, to_transaction::text as to, lines, hash
  from books.seals where journal = ${journal}`

/** Head of a journal's seals. */
export type Head = Pick<Seal, 'number' | 'lines' | 'hash'> & { readonly journal: Journal }

/**
 * Seals what each journal has since its last seal, and returns the new seals. It ends before the oldest transaction that is
 * still open: whatever that one books is part of a later seal, so no service waits and no line is missed.
 */
export async function sealJournals(sql: Sql): Promise<Head[]> {
  const made: Head[] = []
  for (const journal of sealedJournals) {
    const head = await sql.begin('isolation level repeatable read', async (begun) => {
      const tx = begun as unknown as Sql
      const [{ to }] = await tx<[{ to: string }]>`select pg_snapshot_xmin(pg_current_snapshot())::text as to`
      const [last] = await tx<Seal[]>`${readSeals(tx, journal)} order by number desc limit 1`
      const [number, from] = [(last?.number ?? 0) + 1, last?.to ?? '0']
      if (BigInt(to) <= BigInt(from)) return undefined
      const { lines, hash } = await hashOf(tx, journal, { number, from, to, previous: last?.hash ?? '' })
      if (lines === 0) return undefined
      await tx`
        insert into books.seals (journal, number, from_transaction, to_transaction, lines, hash)
        values (${journal}, ${number}, ${from}, ${to}, ${lines}, ${hash})`
      return { journal, number, lines, hash }
    })
    if (head) made.push(head)
  }
  return made
}

/** Time within which a line is sealed, unless a transaction stays open or the process does not run. */
const sealedWithin = '1 hour'

/** Lines that no seal has yet, and the time of the oldest; null without any. */
export type Unsealed = { readonly lines: number; readonly since: Date | null; readonly isOverdue: boolean }

export async function readUnsealed(tx: Sql, journal: Journal): Promise<Unsealed> {
  const [last] = await tx<Seal[]>`${readSeals(tx, journal)} order by number desc limit 1`
  const [found] = await tx<[Unsealed]>`
    select count(*)::int as lines, min(booked_at) as since,
      coalesce(min(booked_at) < now() - ${sealedWithin}::interval, false) as "isOverdue"
    from ${tx(journal)}.journal
    where ${last ? tx`booked_in >= ${last.to}` : tx`true`}`
  return found
}

/** Returns the lines of a seal that is still there as it was made; undefined if it was removed or made again. */
export async function findSeal(sql: Sql, { journal, number, hash }: Head): Promise<number | undefined> {
  const [found] = await sql<{ lines: number }[]>`
    select lines from books.seals where journal = ${journal} and number = ${number} and hash = ${hash}`
  return found?.lines
}

/** Result for a journal. `differs` is the first seal that does not fit its lines or the seal before. */
export type Verified = {
  readonly journal: Journal
  readonly seals: number
  readonly lines: number
  /** Hash of the last seal, which covers all others. Null without seals. */
  readonly head: string | null
  readonly differs: { readonly number: number; readonly sealed: number; readonly found: number } | null
  readonly unsealed: Unsealed
}

/** Computes every seal again from the journals. */
export const verifySeals = (sql: Sql): Promise<Verified[]> =>
  sql.begin('isolation level repeatable read read only', async (begun) => {
    const tx = begun as unknown as Sql
    const verified: Verified[] = []
    for (const journal of sealedJournals) verified.push(await verifyJournal(tx, journal))
    return verified
  }) as Promise<Verified[]>

async function verifyJournal(tx: Sql, journal: Journal): Promise<Verified> {
  const seals = await tx<Seal[]>`${readSeals(tx, journal)} order by number`
  let [previous, to, sum] = ['', '0', 0]
  const unsealed = await readUnsealed(tx, journal)
  const of = { journal, seals: seals.length, head: seals.at(-1)?.hash ?? null, unsealed }
  for (const [at, seal] of seals.entries()) {
    const number = at + 1
    const { lines, hash } = await hashOf(tx, journal, { number, from: to, to: seal.to, previous })
    const isWhole = seal.number === number && seal.from === to && seal.lines === lines && seal.hash === hash
    if (!isWhole) return { ...of, lines: sum, differs: { number, sealed: seal.lines, found: lines } }
    previous = hash
    to = seal.to
    sum += lines
  }
  return { ...of, lines: sum, differs: null }
}
