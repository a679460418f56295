import { address, durationMs, integer, list } from '#platform/config-fields'
import { commonFields, databaseFields } from '#platform/service'
import { chainIdField, genesisHashField } from '#shared/chain/chain-id'

export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints, best first, at least two',
    secret: true,
  }),
  RPC_REQUESTS_PER_SECOND: integer({
    least: 1,
    most: 1_000_000,
    about: 'calls per second to each endpoint; processes on one address share its limit',
    fallback: '8',
  }),
  CHAIN_ID: chainIdField,
  GENESIS_HASH: genesisHashField,
  CREDIT_LINE_ADDRESS: address({
    about: 'credit line; deploy: the recorded one, or a new one',
  }),
  DEPLOY_BLOCK: integer({
    about: 'block in which the credit line was deployed; find: search',
  }),
  LOGS_RANGE_MAX: integer({ least: 1, most: 100_000, about: 'maximum blocks per eth_getLogs call', fallback: '100' }),
  POLL_MS: durationMs({
    about: 'interval between reads of the chain, about one block time',
    fallback: '300',
  }),
  LAG_MAX_MS: durationMs({
    about: 'maximum lag; beyond it requests are refused',
    fallback: '15000',
  }),
}
