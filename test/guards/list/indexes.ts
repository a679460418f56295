import { type Guard, uniqueIndexes, withoutIndex } from '../guard'

const tests = 'infra/migrations/unique.test.ts'
const title = 'of %s, a row of %s with the same %s: %s'

/** Unique indexes without which no money is lost or doubled, and why. */
export const ofNoMoney: Readonly<Record<string, string>> = {
  'gateway.users_pkey': 'a user is a wallet and a country',
  'gateway.identity_anomalies_pkey': "a person's list",
  'gateway.identity_rechecks_pkey':
    'when the provider is asked again; its answer is ordered by time',
  'payments.listings_account_window_pk':
    'who reads the list; each of its rows is claimed in the inbox',
  'payouts.listings_account_window_pk': 'the same',
  'payments.reservations_pkey': 'a second row of a quote sets more aside, and less is promised',
  'payouts.reservations_pkey': 'the same',
  'payments.promise_parts_pkey': 'a number that Postgres counts up; the rows are summed',
  'payments.pauses_pkey': 'what is paused refuses, however many rows say so',
  'payouts.pauses_pkey': 'the same',
  'chain_relayer.pauses_pkey': 'the same',
  'chain_relayer.giveback_request_pkey':
    'a number that Postgres counts up; the transfer is what is unique',
  'ops.deeds_pkey': 'made anew for each deed; what was asked for is what is unique',
  'ops.outcomes_pkey': 'a number that Postgres counts up',
  'ops.outcomes_done': 'what is told of a deed; who did it guards itself',
  'books.balances_place_asset_pk': 'read anew before each comparison, which moves nothing',
  'books.breaks_pkey': 'a number that Postgres counts up',
  'books.breaks_open': 'one line on the list of a person',
  'books.chain_moves_tx_hash_log_index_pk':
    'read to compare; one too many is a break that calls a person',
  'books.checkpoints_pkey': 'how far was compared; once a day all is compared anew',
  'books.names_pkey': 'under which name an item is found',
  'books.provider_moves_account_transaction_id_pk': 'read to compare, as the moves of the chain',
  'books.runs_pkey': 'a number that Postgres counts up',
  'books.totals_source_account_asset_pk': 'sums of journals, made anew from them once a day',
  'indexer_reader.cursors_pkey': 'the public record is made from the chain, and moves nothing',
  'indexer_reader.cursors_one_serves': 'the same',
  'indexer_reader.cursors_one_fills': 'the same',
  'indexer_reader.cycles_generation_wallet_number_pk': 'the same',
  'indexer_reader.events_generation_block_number_log_index_pk': 'the same',
  'indexer_reader.records_generation_wallet_pk': 'the same',
}

/** Every other unique index: Postgres refuses the second row, whatever the services do before. */
export const indexGuards: readonly Guard[] = uniqueIndexes()
  .filter(({ index }) => !(index in ofNoMoney))
  .map(({ index }) => ({
    guard: `there is no second row for ${index}`,
    kind: 'index',
    edits: [withoutIndex(index)],
    index,
    test: { file: tests, name: title, row: index },
  }))
