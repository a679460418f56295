import postgres from 'postgres'
import { databaseUrlOf } from '#shared/db/url'
import { pause } from '#shared/deadline'
import { startLoop } from '#shared/loop'
import { aliveUntilStopped, runService } from '#shared/service'
import { fields } from './config'
import { openRounds } from './round'

/** Whoever starts with it has the machine to itself: nothing waits for old rows to go. */
const firstAfterMs = 10_000

/** `bun infra/pruning/job.ts`: removes what nothing asks for any more, every hour. */
await runService('pruning', fields, async (config, runtime) => {
  const { log, signal, vitals } = runtime
  const sql = postgres(databaseUrlOf(config), {
    max: 2,
    connect_timeout: 5,
    onnotice: () => {},
    // Whoever works with a row does not wait for us, and one batch is far from taking so long.
    connection: { application_name: 'pruning', statement_timeout: 30_000, lock_timeout: 1_000 },
  })
  vitals.push({ name: 'postgres', ask: () => sql`select 1` })
  const round = openRounds(sql, log)
  const rounds = pause(firstAfterMs, signal).then(() =>
    startLoop({ name: 'pruning', everyMs: config.pruneEveryMs, log, work: round }),
  )
  log.info('old rows are removed')
  await aliveUntilStopped(config, runtime)
  await (await rounds)[Symbol.asyncDispose]()
  await sql.end({ timeout: 2 })
})
