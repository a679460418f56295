import { sql } from 'drizzle-orm'
import { type BusOptions, openBus } from '#platform/bus/open'
import { type ConfigOf, type Fields, readConfig, secretsOf } from '#platform/config'
import { databaseUrl, encryptionFields, integer, natsServers, oneOf, percent, text } from '#platform/config-fields'
import { openDatabase } from '#platform/db/open'
import { databaseUrlOf } from '#platform/db/url'
import { deployment } from '#platform/deployment'
import { startHealthFile, type Vital } from '#platform/health'
import { type Log, openLog } from '#platform/log'
import { endWithParent } from '#platform/parent'
import { secretWordsOf } from '#platform/redaction'
import type { ProcessName } from '#shared/messages/topic'

export const commonFields = {
  DEPLOYMENT: deployment,
  ...encryptionFields,
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'fatal'], {
    about: 'lowest level logged',
    fallback: 'info',
  }),
  NATS_URL: natsServers({
    about: 'nats-server, e.g. nats://127.0.0.1:4222; of a cluster, several',
  }),
  NATS_PASSWORD: text({
    about: 'password of the NATS user named after the service',
    secret: true,
  }),
  TRACES_URL: text({
    about: 'OTLP endpoint for traces, e.g. http://127.0.0.1:4318/v1/traces',
    fallback: '',
  }),
  TRACE_SAMPLE_PERCENT: percent({
    about: 'percentage of traces that are sampled',
    fallback: '100',
  }),
  ALIVE_FILE: text({
    about: 'file rewritten every 5 s while process and dependencies respond',
    fallback: '',
  }),
}
export const databaseFields = {
  DATABASE_URL: databaseUrl({
    about: "Postgres URL with the process's own role; with a standby, both hosts",
    secret: true,
  }),
  DATABASE_PASSWORD: text({
    about: 'password, if the URL has none',
    secret: true,
    fallback: '',
  }),
  DATABASE_POOL: integer({ least: 1, most: 1_000, about: 'maximum number of Postgres connections', fallback: '8' }),
}

export type Runtime = {
  readonly log: Log
  readonly signal: AbortSignal
  readonly fatal: () => void
  /** Dependencies that must respond while the service is running. */
  readonly vitals: Vital[]
}

/** Time in ms until the process is ended forcibly; `drainMs` is added. */
const shutdownMs = 5_000

/**
 * Runs a service. `run` opens everything with `await using` and waits for the signal; resources close in reverse order.
 */
export async function runService<F extends Fields>(
  name: string,
  fields: F,
  run: (config: ConfigOf<F>, runtime: Runtime) => Promise<void>,
): Promise<void> {
  const config = readOrExplain(name, fields)
  const { logLevel: level = 'info', drainMs = 0 } = config as {
    logLevel?: string
    drainMs?: number
  }
  const log = openLog(name, level, undefined, secretsOf(fields).flatMap(secretWordsOf))
  const stop = new AbortController()
  const end = (reason: string, code: number) => {
    if (stop.signal.aborted) return
    process.exitCode = code
    log.info({ reason }, 'service stopping')
    setTimeout(() => process.exit(code || 1), drainMs + shutdownMs).unref()
    stop.abort()
  }
  process.on('SIGTERM', () => end('SIGTERM', 0))
  process.on('SIGINT', () => end('SIGINT', 0))
  for (const failure of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(failure, (error: unknown) => {
      log.fatal({ err: error, failure }, 'unhandled error')
      end('bug', 1)
    })
  }
  // The local stack holds a pipe to each service.
  if (process.env.END_WITH_STDIN === '1') endWithParent(() => end('parent gone', 0))
  try {
    const fatal = () => end('fatal', 1)
    await using _traces = await openTraces(name, config, log)
    await run(config, { log, signal: stop.signal, fatal, vitals: [] })
  } catch (error) {
    // If it were rethrown, the runtime would print the whole error.
    log.fatal({ err: error }, 'service failed')
    process.exit(1)
  }
  log.info('service stopped')
  process.exit()
}

/** Loads tracing only if it is configured, because it takes memory and time. */
async function openTraces(
  service: string,
  { tracesUrl: url = '', traceSamplePercent: share = 100 }: { tracesUrl?: string; traceSamplePercent?: number },
  log: Log,
): Promise<AsyncDisposable | undefined> {
  if (url === '') return undefined
  const { startTraceExport } = await import('#platform/tracing/export')
  return startTraceExport({ url, share, service, log })
}

function readOrExplain<F extends Fields>(name: string, fields: F): ConfigOf<F> {
  try {
    return readConfig(name, fields)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

export async function runUntilStopped(
  { aliveFile }: { aliveFile: string },
  { log, signal, vitals }: Runtime,
): Promise<void> {
  await using _beating = aliveFile === '' ? undefined : startHealthFile(aliveFile, vitals, log)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

type BusConfig = { natsUrl: string; natsPassword: string }
export async function openServiceBus(
  name: ProcessName,
  { natsUrl: url, natsPassword: password }: BusConfig,
  { log, fatal: onFatal, vitals }: Runtime,
) {
  const bus = await openBus({ url, user: name, password, name, log, onFatal } satisfies BusOptions)
  vitals.push({ name: 'nats', ask: () => bus.nc.flush() })
  return bus
}

type DatabaseConfig = { databaseUrl: string; databasePassword: string; databasePool: number }
export function openServiceDatabase(
  name: ProcessName,
  { databasePool: max, ...place }: DatabaseConfig,
  { log, fatal: onFatal, vitals }: Runtime,
) {
  const database = openDatabase({ url: databaseUrlOf(place), name, log, onFatal, max })
  vitals.push({ name: 'postgres', ask: () => database.read((db) => db.execute(sql`select 1`)) })
  return database
}
