import { type Guard, uniqueIndexes } from '../guard'

const tests = 'infra/migrations/unique.test.ts'
const title = 'security: Postgres refuses by %s a second row of %s with the same %s: %s'

export const ofNoMoney: Readonly<Record<string, string>> = {
  'gateway.users_pkey': 'a user is a wallet and a country',
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
  'chain_relayer.pauses_pkey': 'the same',
  'chain_relayer.giveback_request_pkey': 'a sequence number; the transfer is unique',
  'ops.commands_pkey': 'new for each command; the request is unique',
  'ops.outcomes_pkey': 'a sequence number',
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
  'books.totals_source_account_asset_pk': 'sums of journals, calculated again once a day',
  'indexer_reader.cursors_pkey': 'the public record follows the chain and moves nothing',
  'indexer_reader.cursors_one_serves': 'the same',
  'indexer_reader.cursors_one_fills': 'the same',
  'indexer_reader.cycles_generation_wallet_number_pk': 'the same',
  'indexer_reader.events_generation_block_number_log_index_pk': 'the same',
  'indexer_reader.records_generation_wallet_pk': 'the same',
}

/** Guards that are unique indexes: Postgres refuses the second row even if the services fail to. */
export const indexGuards: readonly Guard[] = uniqueIndexes()
  .filter(({ index }) => !(index in ofNoMoney))
  .map(({ index }) => ({
    guard: `there is no second row for ${index}`,
    kind: 'index',
    index,
    test: { file: tests, name: title, row: index },
  }))
