import type { Sql } from 'postgres'
import { type DatabaseRole, databaseRoles } from '#infra/migrations/databases'

/**
 * What makes a table `journal` a journal, wherever a service has one: a posting that does not come
 * to 0 per asset cannot be committed, nor one that takes another back and is not its exact negation;
 * and no role, not even the owner, changes or removes a line.
 * And a row that the books are compared with says when it changed, whoever changed it. Triggers are
 * nothing the tables' definitions can say, so they are put there after each migration.
 */
export async function guardJournals(sql: Sql): Promise<void> {
  // A `changed_at` without a default is not ours: it is what a provider says of its own row.
  const found = await sql<{ schema: DatabaseRole; table: string; isJournal: boolean }[]>`
    select table_schema as schema, table_name as table, column_name = 'booked_at' as "isJournal"
    from information_schema.columns
    where table_schema in ${sql([...databaseRoles])}
      and (column_name = 'changed_at' and column_default is not null
        or column_name = 'booked_at' and table_name = 'journal')`
  for (const { schema, table, isJournal } of found)
    await sql.unsafe(isJournal ? guardsOf(schema) : stampOf(schema, table))
}

const stampOf = (schema: DatabaseRole, table: string): string => `
  create or replace function ${schema}.stamp_change() returns trigger language plpgsql as $$
  begin
    new.changed_at := clock_timestamp();
    return new;
  end $$;

  create or replace trigger stamp_change before insert or update on ${schema}.${table}
    for each row execute function ${schema}.stamp_change();`

const guardsOf = (schema: DatabaseRole): string => `
  create or replace function ${schema}.journal_balances() returns trigger language plpgsql as $$
  begin
    if exists (
      select 1 from ${schema}.journal where posting = new.posting
      group by asset having sum(amount) <> 0
    ) then
      raise exception 'posting % does not come to 0 in every asset', new.posting
        using errcode = 'check_violation';
    end if;
    -- Of a line without it, too: it may have been added to a reversal.
    if exists (select 1 from ${schema}.journal
      where posting = new.posting and reverses is distinct from new.reverses)
      or new.reverses is not null and exists (
        (select line, item, account, asset, -amount from ${schema}.journal where posting = new.reverses
          except all
          select line, item, account, asset, amount from ${schema}.journal where posting = new.posting)
        union all
        (select line, item, account, asset, amount from ${schema}.journal where posting = new.posting
          except all
          select line, item, account, asset, -amount from ${schema}.journal where posting = new.reverses)
      )
    then
      raise exception 'posting % is not the exact reversal of %', new.posting, new.reverses
        using errcode = 'check_violation';
    end if;
    return null;
  end $$;

  create or replace function ${schema}.journal_stays() returns trigger language plpgsql as $$
  begin
    raise exception 'a line of the journal is never changed or removed: reverse its posting'
      using errcode = 'insufficient_privilege';
  end $$;

  create or replace trigger journal_stays before update or delete on ${schema}.journal
    for each row execute function ${schema}.journal_stays();
  create or replace trigger journal_is_kept before truncate on ${schema}.journal
    for each statement execute function ${schema}.journal_stays();
  drop trigger if exists journal_balances on ${schema}.journal;
  create constraint trigger journal_balances after insert on ${schema}.journal
    deferrable initially deferred
    for each row execute function ${schema}.journal_balances();

  revoke update, delete, truncate on ${schema}.journal from ${schema};`
