import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

// A unique index is a guard too: Postgres refuses the second row even if the services fail to.

/** Unique indexes that are no guard of the money, each with the reason. */
export const ofNoMoney: Readonly<Record<string, string>> = {
  'gateway.users_pkey': 'a user is a wallet and a country',
  'gateway.accepted_terms_wallet_version_pk': 'an acceptance keeps its first time',
  'gateway.identity_anomalies_pkey': 'a list for operators',
  'gateway.identity_links_pkey': 'a generated id',
  'gateway.persons_pkey': "an operator's decision, stored under the lock of its wallet",
  'payouts.account_checks_pkey': 'a generated id',
  'gateway.identity_rechecks_pkey': 'the time of the next recheck; responses are ordered by time',
  'payments.listings_account_window_pk': 'the reader of the list; each of its rows is claimed in the inbox',
  'payouts.listings_account_window_pk': 'the same',
  'payments.promise_parts_pkey': 'a sequence number; the rows are summed',
  'payments.pauses_pkey': 'a second row of a pause has no effect',
  'payouts.pauses_pkey': 'the same',
  'payouts.refused_accounts_pkey': 'the refusal of a bank account, stored under the lock of the account',
  'chain_relayer.pauses_pkey': 'the same',
  'chain_relayer.giveback_request_pkey': 'a sequence number; the transfer is unique',
  'ops.commands_pkey': 'new for each command; the request is unique',
  'ops.outcomes_pkey': 'a sequence number',
  'ops.proposals_pkey': 'a sequence number',
  'payments.approvals_command_hash_pk': 'a second row of a command counts once, and its service executes it once',
  'payouts.approvals_command_hash_pk': 'the same',
  'chain_relayer.approvals_command_hash_pk': 'the same',
  'ops.approvals_command_hash_pk': 'the same',
  'ops.outcomes_done': 'the report of a command; the service that executed it has its own guard',
  'books.balances_place_asset_pk': 'read again before each comparison, which moves nothing',
  'books.breaks_pkey': 'a sequence number',
  'books.breaks_open': 'a line of a list for operators',
  'books.chain_moves_tx_hash_log_index_pk': 'read for comparison; a duplicate is reported as a break',
  'books.checkpoints_pkey': 'progress of the comparison, which starts again once a day',
  'books.heartbeats_pkey': 'one row, which proves that Postgres takes writes',
  'books.names_pkey': 'names of items for the comparison',
  'books.provider_moves_account_transaction_id_pk': 'read for comparison, as the moves of the chain',
  'books.runs_pkey': 'a sequence number',
  'books.seals_journal_number_pk': 'the second of two processes that seal at once fails, and seals later',
  'books.totals_source_account_asset_pk': 'sums of journals, calculated again once a day',
  'indexer_reader.cursors_pkey': 'the public record follows the chain and moves nothing',
  'indexer_reader.cursors_one_serves': 'the same',
  'indexer_reader.cursors_one_fills': 'the same',
  'indexer_reader.cycles_generation_wallet_number_pk': 'the same',
  'indexer_reader.events_generation_block_number_log_index_pk': 'the same',
  'indexer_reader.records_generation_wallet_pk': 'the same',
}

type Snapshot = { readonly tables: Readonly<Record<string, Table>> }
type Table = {
  readonly name: string
  readonly schema: string
  readonly columns: Readonly<Record<string, { readonly name: string; readonly primaryKey: boolean }>>
  readonly compositePrimaryKeys: Readonly<Record<string, { readonly name: string }>>
  readonly uniqueConstraints: Readonly<Record<string, { readonly name: string }>>
  readonly indexes: Readonly<Record<string, { readonly name: string; readonly isUnique: boolean }>>
}

export type UniqueIndex = { readonly index: string; readonly schema: string; readonly drop: string }

/** Returns the unique indexes in the newest snapshots of drizzle-kit. */
export function uniqueIndexes(): UniqueIndex[] {
  const folders = readdirSync(join(repositoryDir, 'infra/migrations'), { withFileTypes: true })
  return folders
    .filter((one) => one.isDirectory())
    .flatMap(({ name }) => {
      const meta = join(repositoryDir, 'infra/migrations', name, 'meta')
      const newest = readdirSync(meta)
        .filter((file) => file.endsWith('_snapshot.json'))
        .toSorted()
        .at(-1)!
      const snapshot = JSON.parse(readFileSync(join(meta, newest), 'utf8')) as Snapshot
      return Object.values(snapshot.tables).flatMap(indexesOf)
    })
}

function indexesOf(table: Table): UniqueIndex[] {
  const { schema, name: tableName } = table
  const named = (one: Readonly<Record<string, { name: string }>>) => Object.values(one).map(({ name }) => name)
  const isOwnKey = Object.values(table.columns).some(({ primaryKey }) => primaryKey)
  const constraints = [
    ...(isOwnKey ? [`${tableName}_pkey`] : []),
    ...named(table.compositePrimaryKeys),
    ...named(table.uniqueConstraints),
  ]
  const plain = Object.values(table.indexes).filter(({ isUnique }) => isUnique)
  return [
    ...constraints.map((name) => ({
      index: `${schema}.${name}`,
      schema,
      drop: `alter table "${schema}"."${tableName}" drop constraint "${name}" cascade;`,
    })),
    ...plain.map(({ name }) => ({
      index: `${schema}.${name}`,
      schema,
      drop: `drop index "${schema}"."${name}";`,
    })),
  ]
}

/** Returns the statement that drops the index after all migrations, and the file of the newest one. */
export function afterMigrations(index: string): { file: string; statement: string } {
  const found = uniqueIndexes().find((one) => one.index === index)
  if (!found) throw new Error(`no migration creates the unique index ${index}`)
  const folder = `infra/migrations/${found.schema.replaceAll('_', '-')}`
  const newest = readdirSync(join(repositoryDir, folder))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .at(-1)!
  return { file: `${folder}/${newest}`, statement: found.drop }
}

const named = /^unique index (.*)$/

/** Returns the index that a guard named `unique index <schema>.<index>` is, or undefined for a mark in the sources. */
export const indexOf = (guard: string): string | undefined => named.exec(guard)?.[1]

/** Names of the guards that are unique indexes. */
export const indexGuards: readonly string[] = uniqueIndexes()
  .filter(({ index }) => !(index in ofNoMoney))
  .map(({ index }) => `unique index ${index}`)
