import { durationMs, encryptionFields, integer } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'
import { bankDetailsDays } from './prune'

const { LOG_LEVEL, ALIVE_FILE } = commonFields
const { DATABASE_URL, DATABASE_PASSWORD } = databaseFields

/** Configuration of the pruning job, which connects only to Postgres. */
export const fields = {
  ...encryptionFields,
  ...{ LOG_LEVEL, ALIVE_FILE, DATABASE_URL, DATABASE_PASSWORD },
  PRUNE_EVERY_MS: durationMs({
    about: 'interval between pruning rounds',
    fallback: '3600000',
  }),
  BANK_DETAILS_KEPT_DAYS: integer({
    about: 'days from the end of a cash-out until its bank details are emptied',
    fallback: String(bankDetailsDays),
  }),
}
