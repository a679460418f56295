import type { Sql, TransactionSql } from 'postgres'
import { figureTables } from './figures'
import { itemTables } from './items'
import { rules } from './rules/catalogue'
import type { BookRule } from './rules/rule'
import { signedMicro } from './schema.store'
import { type BookSpan, checkpoint, moment, readSpan } from './span'

/** Difference that a rule found. The amount is in the asset's minor unit. */
export type Break = {
  readonly id: string
  readonly rule: string
  readonly item: string
  readonly asset: string
  readonly amount: bigint
  readonly about: string
  readonly foundAt: Date
  readonly ageMs: number
  readonly owner: string | null
  readonly reason: string | null
  readonly restsUntil: Date | null
  /**
   * `young`: within its grace period. `rests`: explained by an operator, up to the amount it then had. `counts`: alerts an
   * operator.
   */
  readonly standing: 'young' | 'rests' | 'counts'
}

export type Matched = {
  readonly asset: string
  readonly agrees: bigint
  readonly differs: bigint
}

export type Agreed = { readonly item: string; readonly asset: string; readonly amount: bigint }

export type Judgement = {
  readonly breaks: readonly Break[]
  readonly matched: readonly Matched[]
  /** Items without a break. Empty unless the caller asked for the list. */
  readonly agreed: readonly Agreed[]
  /** `items`: compared items. `unread`: items that changed after the chain or the provider was last read. */
  readonly items: number
  readonly unread: number
  readonly tookMs: number
}

/**
 * Compares the books with rows, chain and provider: for the time since the last run or, if `whole`, from the beginning.
 * Comparisons run one at a time, each in one snapshot.
 */
export async function judge(
  sql: Sql,
  { whole = false, listed = false }: { whole?: boolean; listed?: boolean } = {},
): Promise<Judgement> {
  const startedAt = performance.now()
  const answer = await sql.begin('isolation level repeatable read', async (tx) => {
    // The lock is taken before the snapshot, which then includes the writes of the previous run.
    await tx`lock table books.runs in exclusive mode`
    const span = await readSpan(tx, whole)
    await tx.unsafe(`set local jit = off; set local work_mem = '64MB';
      set local statement_timeout = ${span.since === '-infinity' ? wholeTimeoutMs : timeoutMs}`)
    await prepare(tx, span, whole)
    for (const rule of rules) await tx.unsafe(findingOf(rule, span))
    await recordBreaks(tx)
    await recordTotals(tx, span, whole)
    const counts = await countItems(tx)
    const breaks = await openBreaks(tx)
    await tx.unsafe(judged)
    const matched = await valueMatched(tx)
    const agreed = listed ? await agreedItems(tx) : []
    await tx`
      insert into books.runs (started_at, ended_at, whole, items, open)
      values (now(), clock_timestamp(), ${whole}, ${counts.items}, ${breaks.length})`
    return { breaks, matched, agreed, ...counts }
  })
  return { ...answer, tookMs: Math.round(performance.now() - startedAt) }
}

async function prepare(tx: TransactionSql, span: BookSpan, whole: boolean): Promise<void> {
  for (const statement of [...itemTables(span), totalsBefore(whole), standing(span)]) await tx.unsafe(statement)
  for (const statement of figureTables(span)) await tx.unsafe(statement)
  await tx.unsafe(`create temporary table finding (rule text, item text, asset text, amount numeric,
    about text) on commit drop`)
}

const findingOf = ({ name, sql }: BookRule, span: BookSpan): string =>
  `insert into finding select '${name}', item, asset, amount, about from (${sql(span)}) found`

const totalsBefore = (whole: boolean) => `
  create temporary table totals_before on commit drop as
    select source, account, asset, amount from books.totals where ${!whole}`

/** Sums of chain movements, with incoming ones positive. */
const chainSums = (from: string, to: string) => `
  select 'chain' as source, 'treasury' as account, 'AUSD' as asset,
    sum(${signedMicro()}) as amount
  from books.chain_moves where block > ${from} and block <= ${to} having count(*) > 0`
const lineSums = (from: string, to: string) => `
  select journal, account, asset, sum(amount) from lines
  where booked_at >= ${from} and booked_at < ${to} group by journal, account, asset`

const standing = ({ since, block }: BookSpan) => `
  create temporary table standing on commit drop as
    select source, account, asset, sum(amount) as amount from (
      select * from totals_before
      union all ${lineSums(moment(since), "'infinity'::timestamptz")}
      union all ${chainSums(block, '9223372036854775807')}
    ) s group by source, account, asset`

/**
 * Stores the breaks found, and closes earlier ones that were not found again, unless their source was not read since.
 */
async function recordBreaks(tx: TransactionSql): Promise<void> {
  await tx.unsafe(`
    create temporary table found on commit drop as
      select rule, item, asset, sum(amount) as amount, string_agg(about, '; ') as about
      from finding group by rule, item, asset`)
  await tx`
    update books.breaks b set seen_at = clock_timestamp(), amount = f.amount, about = f.about,
      exceeded_at = case when f.amount not between least(0, b.explained_amount) and greatest(0, b.explained_amount)
        then coalesce(b.exceeded_at, clock_timestamp()) end
    from found f where b.closed_at is null
      and b.rule = f.rule and b.item = f.item and b.asset = f.asset`
  await tx`
    insert into books.breaks (rule, item, asset, amount, about, found_at, seen_at)
    select rule, item, asset, amount, about, clock_timestamp(), clock_timestamp() from found f
    where not exists (select from books.breaks b where b.closed_at is null
      and b.rule = f.rule and b.item = f.item and b.asset = f.asset)`
  await tx`
    update books.breaks b set closed_at = clock_timestamp() where closed_at is null
      and not exists (select from found f
        where b.rule = f.rule and b.item = f.item and b.asset = f.asset)
      and not exists (select from figures g where g.item = b.item and not g.known
        and (g.place = 'treasury' and b.rule in ${tx(judgedAfter('chain'))}
          or g.place <> 'treasury' and b.rule in ${tx(judgedAfter('provider'))}))`
}

const judgedAfter = (source: 'chain' | 'provider'): string[] =>
  rules.filter(({ after }) => after === source).map(({ name }) => name)

async function recordTotals(tx: TransactionSql, span: BookSpan, whole: boolean): Promise<void> {
  if (whole) await tx`update books.totals set amount = 0`
  await tx.unsafe(`
    insert into books.totals (source, account, asset, amount)
    ${lineSums(moment(span.since), moment(span.readTo))}
    union all ${chainSums(span.block, span.readToBlock)}
    on conflict (source, account, asset)
      do update set amount = totals.amount + excluded.amount`)
  await tx`
    insert into books.checkpoints (source, block, read_to, noted_at)
    values (${checkpoint}, ${span.readToBlock}, ${span.readTo}, now())
    on conflict (source) do update
      set block = excluded.block, read_to = excluded.read_to, noted_at = excluded.noted_at`
}

async function countItems(tx: TransactionSql): Promise<{ items: number; unread: number }> {
  const [counts] = await tx<{ items: number; unread: number }[]>`
    select (select count(*)::int from touched) as items,
      (select count(distinct item)::int from figures where not known
        and exists (select from books.checkpoints c
          where c.source = case place when 'treasury' then 'chain' when 'provider_id'
            then 'provider:ID' else 'provider:MY' end)) as unread`
  return counts!
}

/** Statement timeout in ms. Only a whole comparison reads data from before the checkpoint, so it has longer. */
const timeoutMs = 30_000
const wholeTimeoutMs = 600_000

type BreakRow = Omit<Break, 'amount' | 'standing'> & { amount: string; exceededMs: number | null }
const graces = new Map(rules.map(({ name, graceMs }) => [name, graceMs]))

/** Returns the open breaks, oldest first. */
export async function openBreaks(sql: Sql | TransactionSql): Promise<Break[]> {
  const rows = await sql<BreakRow[]>`
    select id::text, rule, item, asset, amount::text, about, found_at as "foundAt", owner, reason,
      rests_until as "restsUntil",
      abs(extract(epoch from clock_timestamp() - found_at) * 1000)::float8 as "ageMs",
      abs(extract(epoch from clock_timestamp() - exceeded_at) * 1000)::float8 as "exceededMs"
    from books.breaks where closed_at is null order by found_at, id`
  return rows.map(({ exceededMs, ...row }) => ({
    ...row,
    amount: BigInt(row.amount),
    standing: standingOf({ ...row, exceededMs }),
  }))
}

function standingOf({ rule, ageMs, foundAt, restsUntil, exceededMs }: BreakRow): Break['standing'] {
  const graceMs = graces.get(rule) ?? 0
  const isExplained = restsUntil !== null && restsUntil.getTime() > foundAt.getTime() + ageMs
  // Items in progress move the difference for a moment.
  // guard: an explanation mutes no larger difference than the one explained
  if (isExplained && (exceededMs === null || exceededMs < graceMs)) return 'rests'
  return ageMs < graceMs ? 'young' : 'counts'
}

const judged = `
  create temporary table judged on commit drop as
    select item, asset, amount,
      not exists (select from found f where f.item in (moved.item, moved.name)) as agrees
    from (
      select item, item as name, 'AUSD' as asset, ausd_micro as amount from moves
      union all select item, transaction_id, asset, amount from money where status = 'succeeded'
      union all select transaction_id, product_id, coalesce(currency, '-'), amount_minor
        from stray_money where status = 'succeeded'
    ) moved`

async function valueMatched(tx: TransactionSql): Promise<Matched[]> {
  const rows = await tx<{ asset: string; agrees: string; differs: string }[]>`
    select asset, coalesce(sum(amount) filter (where agrees), 0)::text as agrees,
      coalesce(sum(amount) filter (where not agrees), 0)::text as differs
    from judged group by asset order by asset`
  return rows.map(({ asset, agrees, differs }) => ({
    asset,
    agrees: BigInt(agrees),
    differs: BigInt(differs),
  }))
}

async function agreedItems(tx: TransactionSql): Promise<Agreed[]> {
  const rows = await tx<{ item: string; asset: string; amount: string }[]>`
    select item, asset, sum(amount)::text as amount from judged
    group by item, asset having bool_and(agrees) and sum(amount) is not null order by item, asset`
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}
