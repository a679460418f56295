import { address, durationMs, integer, list, text, url } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

/** Configuration of the books job. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints of the chain, comma-separated; only the first is used',
    secret: true,
  }),
  AUSD_ADDRESS: address({ about: 'the AUSD token' }),
  CREDIT_LINE_ADDRESS: address({ about: 'the credit-line contract' }),
  TREASURY_ADDRESS: address({ about: 'the treasury, whose AUSD is reconciled' }),
  DEPLOY_BLOCK: integer({ about: 'block of the deployment, where reading starts' }),
  LOGS_RANGE_MAX: integer({ about: 'maximum blocks per eth_getLogs call', fallback: '100' }),
  PROVIDER_URL: url({ about: "the payment provider's API" }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'secret key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'secret key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    about: "maximum calls per endpoint and account; shares the provider's limit with the services",
    fallback: '30',
  }),
  BOOKS_EVERY_MS: durationMs({ about: 'pause between two reconciliations', fallback: '60000' }),
  BOOKS_WHOLE_EVERY_MS: durationMs({
    about: 'interval of full reconciliations, which compare everything from the beginning',
    fallback: '86400000',
  }),
}
