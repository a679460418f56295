import { address, durationMs, integer, list, oneOf, text } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints of the chain, comma-separated; two or more',
    secret: true,
  }),
  RPC_REQUESTS_PER_SECOND: integer({
    about: 'JSON-RPC calls to one endpoint by this process; with the others it stays below a limit',
    fallback: '8',
  }),
  CHAIN_ID: integer({ about: 'the chain that every endpoint must be' }),
  GENESIS_HASH: text({
    about: 'hash of block 0, or `unchecked`: then the first endpoint asked decides',
    fallback: 'unchecked',
  }),
  CREDIT_LINE_ADDRESS: address({ about: 'the credit-line contract' }),
  DEPLOY_BLOCK: integer({ about: 'block of its deployment: reading starts there' }),
  LOGS_RANGE_MAX: integer({ about: 'blocks per eth_getLogs at most', fallback: '100' }),
  CHAIN_SHORTENS: oneOf(['no', 'yes'], {
    about: 'yes: a local chain, which is some blocks shorter after a kill, is then read anew',
    fallback: 'no',
  }),
  POLL_MS: durationMs({ about: 'pause between two reads of the head', fallback: '300' }),
  LAG_MAX_MS: durationMs({
    about: 'behind the chain by more than this, the reader refuses to answer',
    fallback: '15000',
  }),
}
