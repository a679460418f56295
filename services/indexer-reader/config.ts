import { address, durationMs, integer, list, oneOf, text } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoint URLs, comma-separated; at least two',
    secret: true,
  }),
  RPC_REQUESTS_PER_SECOND: integer({
    about: 'JSON-RPC calls per second to each endpoint; processes on one address share its limit',
    fallback: '8',
  }),
  CHAIN_ID: integer({ about: 'chain id that every endpoint must report' }),
  GENESIS_HASH: text({
    about: 'hash of block 0; unchecked: use the one reported by the first endpoint',
    fallback: 'unchecked',
  }),
  CREDIT_LINE_ADDRESS: address({ about: 'address of the credit-line contract' }),
  DEPLOY_BLOCK: integer({
    about: 'deployment block of the credit line, from which events are read',
  }),
  LOGS_RANGE_MAX: integer({ about: 'maximum blocks per eth_getLogs call', fallback: '100' }),
  CHAIN_SHORTENS: oneOf(['no', 'yes'], {
    about: 'yes: rebuild the projection if a local chain loses blocks after a kill',
    fallback: 'no',
  }),
  POLL_MS: durationMs({ about: 'pause between two reads of the chain head', fallback: '300' }),
  LAG_MAX_MS: durationMs({
    about: 'maximum lag behind the chain, beyond which requests are refused',
    fallback: '15000',
  }),
}
