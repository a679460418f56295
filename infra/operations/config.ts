import { address, durationMs, integer, list, text } from '#platform/config-fields'
import { commonFields, databaseFields } from '#platform/service'
import { consoleToken } from '#shared/api/console-token'
import { ausdAddress } from '#shared/chain/chain-id'
import { indonesianKey, malaysianKey, providerBudget, providerUrl } from '#shared/provider/account-key'
import { fields as relayer } from '../../services/chain-relayer/config'
import { fields as payments } from '../../services/payments/config'
import { fields as payouts } from '../../services/payouts/config'
import { bankDetailsDays } from './pruning/prune'

const { DATABASE_URL, DATABASE_PASSWORD } = databaseFields
const { TREASURY_LOW_AUSD } = payments
const { BALANCE_LOW_IDR } = payouts
const { LANE_MIN_BALANCE_WEI, LANE_REFILL_WEI } = relayer

export const fields = {
  ...commonFields,
  DATABASE_URL,
  DATABASE_PASSWORD,
  RPC_URLS: list({
    about: 'JSON-RPC endpoints, best first, at least two',
    secret: true,
  }),
  AUSD_ADDRESS: ausdAddress,
  CREDIT_LINE_ADDRESS: address({
    about: 'credit line; deploy: the recorded one, or a new one',
  }),
  TREASURY_ADDRESS: address({ about: 'treasury, which receives the AUSD of cash-outs' }),
  DEPLOY_BLOCK: integer({
    about: 'block in which the credit line was deployed; find: search',
  }),
  LOGS_RANGE_MAX: integer({ least: 1, most: 100_000, about: 'maximum blocks per eth_getLogs call', fallback: '100' }),
  PROVIDER_URL: providerUrl,
  PROVIDER_ID_SECRET_KEY: indonesianKey,
  PROVIDER_MY_SECRET_KEY: malaysianKey,
  PROVIDER_REQUESTS_PER_MINUTE: providerBudget('30'),
  BOOKS_EVERY_MS: durationMs({ about: 'pause between two reconciliations', fallback: '60000' }),
  PRUNE_EVERY_MS: durationMs({
    about: 'interval between pruning rounds',
    fallback: '3600000',
  }),
  BANK_DETAILS_KEPT_DAYS: integer({
    least: 1,
    most: 36_500,
    about: 'days from the end of a cash-out until its bank details are emptied',
    fallback: String(bankDetailsDays),
  }),
  CONSOLE_TOKEN: consoleToken,
  NATS_PASSWORD_CONSOLE: text({
    about: 'password of the NATS user console, which hears every message',
    secret: true,
  }),
  TREASURY_LOW_AUSD,
  BALANCE_LOW_IDR,
  LANE_MIN_BALANCE_WEI,
  LANE_REFILL_WEI,
}
