import postgres from 'postgres'
import { databaseUrlOf } from '#shared/db/url'
import { pause } from '#shared/deadline'
import { startLoop } from '#shared/loop'
import { aliveUntilStopped, runService } from '#shared/service'
import { fields } from './config'
import { openRounds } from './round'

/** Delay of the first round, so that a starting stack has the machine to itself. */
const firstAfterMs = 10_000

/** `bun infra/operations/pruning/job.ts`: removes rows that are no longer needed, every hour. */
await runService('pruning', fields, async (config, runtime) => {
  const { log, signal, vitals } = runtime
  const sql = postgres(databaseUrlOf(config), {
    max: 2,
    connect_timeout: 5,
    onnotice: () => {},
    // Services must not wait for pruning. A batch takes far less time than these limits.
    connection: { application_name: 'pruning', statement_timeout: 30_000, lock_timeout: 1_000 },
  })
  vitals.push({ name: 'postgres', ask: () => sql`select 1` })
  const round = openRounds(sql, log, { bankDetailsDays: config.bankDetailsKeptDays })
  const rounds = pause(firstAfterMs, signal).then(() =>
    startLoop({ name: 'pruning', everyMs: config.pruneEveryMs, log, work: round }),
  )
  log.info('pruning started')
  await aliveUntilStopped(config, runtime)
  await (await rounds)[Symbol.asyncDispose]()
  await sql.end({ timeout: 2 })
})
