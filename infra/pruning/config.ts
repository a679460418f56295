import { durationMs } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

const { LOG_LEVEL, ALIVE_FILE } = commonFields
const { DATABASE_URL, DATABASE_PASSWORD } = databaseFields

/** What the job of pruning is told. It knows Postgres alone. */
export const fields = {
  ...{ LOG_LEVEL, ALIVE_FILE, DATABASE_URL, DATABASE_PASSWORD },
  PRUNE_EVERY_MS: durationMs({
    about: 'pause between two rounds of removing what nothing asks for any more',
    fallback: '3600000',
  }),
}
