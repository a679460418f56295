import { sql } from 'drizzle-orm'
import { openBus } from '#platform/bus/open'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'

/**
 * This script, `bun test/support/engines/dial.ts <Postgres URL> <NATS URL> <NATS password of admin>`, connects as a
 * service does. It is a process of its own because Bun reads NODE_EXTRA_CA_CERTS when it starts.
 */
const [databaseUrl, natsUrl, password] = process.argv.slice(2) as [string, string, string]
const common = { log: openLog('gateway', 'info'), onFatal: () => {} }
await using database = openDatabase({ ...common, url: databaseUrl, name: 'dial' })
const encrypted = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
await database
  .read((db) => db.execute<{ ssl: boolean }>(encrypted))
  .then(
    ([row]) => console.log(`Postgres connected, encrypted: ${row?.ssl}`),
    (error: Error) => console.log(`Postgres refused: ${error.message}`),
  )
await using bus = await openBus({ ...common, url: natsUrl, user: 'admin', password, name: 'admin' })
await bus.nc.flush()
process.exit(0)
