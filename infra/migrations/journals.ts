import type { Sql } from 'postgres'
import { type DatabaseRole, databaseRoles } from '#infra/migrations/databases'
import { untilUnlocked } from '#infra/migrations/locks'

/**
 * Creates the triggers of journals, because drizzle's table definitions have none. Journals are checked once per
 * statement, which writes all lines of a posting.
 */
export async function guardJournals(sql: Sql): Promise<void> {
  // A `changed_at` without a default comes from a provider and keeps its value.
  const found = await sql<{ schema: DatabaseRole; table: string; isJournal: boolean }[]>`
    select table_schema as schema, table_name as table, column_name = 'booked_at' as "isJournal"
    from information_schema.columns
    where table_schema in ${sql([...databaseRoles])}
      and (column_name = 'changed_at' and column_default is not null
        or column_name = 'booked_at' and table_name = 'journal')`
  for (const { schema, table, isJournal } of found) {
    await sql.unsafe(isJournal ? guardsOf(schema) : stampOf(schema))
    const of = isJournal ? journalTriggers(schema) : stampTriggers(schema, table)
    for (const trigger of of) await ensureTrigger(sql, `${schema}.${table}`, trigger)
  }
}

type Trigger = { readonly name: string; readonly fires: string }

/**
 * Creates a trigger unless it is there with the same definition, which its comment repeats. Creating one waits for all readers of
 * the table, while everyone who comes later waits for it, and every start of a deployment migrates.
 */
async function ensureTrigger(sql: Sql, table: string, { name, fires }: Trigger): Promise<void> {
  const [known] = await sql<{ isSame: boolean }[]>`
    select tgenabled = 'O' and obj_description(oid, 'pg_trigger') is not distinct from ${fires} as "isSame"
    from pg_trigger where tgrelid = ${table}::regclass and tgname = ${name}`
  if (known?.isSame) return
  const creating = `
    drop trigger if exists ${name} on ${table};
    create trigger ${name} ${fires};
    comment on trigger ${name} on ${table} is '${fires}'`
  await untilUnlocked(() => sql.unsafe(creating))
}

const stampTriggers = (schema: DatabaseRole, table: string): Trigger[] => [
  {
    name: 'stamp_change',
    fires: `before insert or update on ${schema}.${table} for each row execute function ${schema}.stamp_change()`,
  },
]

const journalTriggers = (schema: DatabaseRole): Trigger[] => [
  // guard: a line of a journal is never changed, not even by its owner
  {
    name: 'journal_stays',
    fires: `before update or delete on ${schema}.journal for each row execute function ${schema}.journal_stays()`,
  },
  {
    name: 'journal_is_kept',
    fires: `before truncate on ${schema}.journal for each statement execute function ${schema}.journal_stays()`,
  },
  {
    name: 'journal_balances',
    fires: `after insert on ${schema}.journal referencing new table as added for each statement execute function ${schema}.journal_balances()`,
  },
]

const stampOf = (schema: DatabaseRole): string => `
  create or replace function ${schema}.stamp_change() returns trigger language plpgsql as $$
  begin
    new.changed_at := clock_timestamp();
    return new;
  end $$`

const guardsOf = (schema: DatabaseRole): string => `
  -- A generic plan: planning each posting takes longer than running the query. By index even if the
  -- journal is small when it is planned, because the plan stays while the journal grows.
  create or replace function ${schema}.journal_balances() returns trigger language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
  declare
    unbalanced text;
    has_reversal boolean;
    one record;
    postings text[] := array(select distinct posting from added);
  begin
    select max(posting) filter (where total <> 0), bool_or(reverses)
    into unbalanced, has_reversal
    from (
      select posting, sum(amount) as total, bool_or(reverses is not null) as reverses
      from ${schema}.journal where posting = any (postings)
      group by posting, asset
    ) as sums;
    -- guard: a posting sums to 0 in every asset
    if unbalanced is not null then
      raise exception 'posting % does not sum to 0 in every asset', unbalanced
        using errcode = 'check_violation';
    end if;
    if not has_reversal then
      return null;
    end if;
    -- Check every line: a line without "reverses" may have been added to a reversal.
    for one in select distinct posting, reverses from ${schema}.journal
      where posting = any (postings)
    loop
      if exists (select 1 from ${schema}.journal
        where posting = one.posting and reverses is distinct from one.reverses)
        -- guard: a posting is reversed by its exact negation
        or one.reverses is not null and exists (
          (select line, item, account, asset, -amount from ${schema}.journal where posting = one.reverses
            except all
            select line, item, account, asset, amount from ${schema}.journal where posting = one.posting)
          union all
          (select line, item, account, asset, amount from ${schema}.journal where posting = one.posting
            except all
            select line, item, account, asset, -amount from ${schema}.journal where posting = one.reverses)
        )
      then
        raise exception 'posting % is not the exact reversal of %', one.posting, one.reverses
          using errcode = 'check_violation';
      end if;
    end loop;
    return null;
  end $$;

  create or replace function ${schema}.journal_stays() returns trigger language plpgsql as $$
  begin
    raise exception 'journal lines cannot be changed or removed: reverse the posting instead'
      using errcode = 'insufficient_privilege';
  end $$;

  -- guard: a line of a journal is never changed by its service
  revoke update, delete, truncate on ${schema}.journal from ${schema};`
