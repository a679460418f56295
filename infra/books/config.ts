import { address, durationMs, integer, list, text, url } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

/** What the job of the books is told. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints of the chain, comma-separated; the first one is read',
    secret: true,
  }),
  AUSD_ADDRESS: address({ about: 'the AUSD token' }),
  CREDIT_LINE_ADDRESS: address({ about: 'the credit-line contract' }),
  TREASURY_ADDRESS: address({ about: 'whose AUSD the books are of' }),
  DEPLOY_BLOCK: integer({ about: 'block of its deployment: reading starts there' }),
  LOGS_RANGE_MAX: integer({ about: 'blocks per eth_getLogs at most', fallback: '100' }),
  PROVIDER_URL: url({ about: "the payment provider's API" }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'secret key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'secret key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    about:
      'calls per endpoint and account by this process; with the services it stays below a limit',
    fallback: '30',
  }),
  BOOKS_EVERY_MS: durationMs({ about: 'pause between two reconciliations', fallback: '60000' }),
  BOOKS_WHOLE_EVERY_MS: durationMs({
    about: 'how often everything is compared, from the beginning',
    fallback: '86400000',
  }),
}
