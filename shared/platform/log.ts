import { LRUCache } from 'lru-cache'
import pino from 'pino'
import type { AlarmLine } from '#platform/alarm-lines'
import type { Clock } from '#platform/clock'
import { isSuppressed } from '#platform/error-suppression'
import { counter } from '#platform/metrics/measures'
import { fieldRemover, redactorOf } from '#platform/redaction'
import { requestId } from '#platform/request-id'
import { traceId } from '#platform/tracing/spans'

export type Log = pino.Logger & {
  /** Logs a line that raises an alert. It is at error level, so that the log level cannot hide it. */
  readonly alarm: (fields: object, line: AlarmLine) => void
}

/** Fields with secrets or personal data, which are removed at any depth of a log object. */
const removedFields = [
  'authorization',
  'signature',
  'password',
  'token',
  'secret',
  'secretKey',
  'privateKey',
  'apiKey',
  'accountNumber',
  'accountHolderName',
  'account_number',
  'account_holder_name',
  'x-callback-token',
  'x-payload-digest',
  'persona-signature',
  'body',
] as const

const withoutSecrets = fieldRemover(new Set(removedFields))

/** Removes secrets from fields. Errors pass through, because they are cleaned after serialization. */
const cleaned = ({ err, ...fields }: Record<string, unknown>) => ({
  ...(withoutSecrets(fields) as Record<string, unknown>),
  ...(err === undefined ? {} : { err }),
})

/** Characters that wait for a disk that takes none; later lines are dropped. */
const unwrittenMax = 1_000_000

const failedWrites = counter({
  what: 'log_writes_failed',
  help: 'Writes of log lines that the output refused, as a full disk does.',
  labels: {},
})

/** Opens the standard output. A failed write throws nothing: its lines wait for the next one, because work is not to end for its log. */
function openStdout(): pino.DestinationStream {
  const stdout = pino.destination({ fd: 1, sync: true, maxLength: unwrittenMax })
  stdout.on('error', () => failedWrites({}))
  return stdout
}

/**
 * Opens a log that removes `secretWords` from the finished line, because library errors may quote their input anywhere.
 */
export const openLog = (
  service: string,
  level: string,
  to: pino.DestinationStream = openStdout(),
  secretWords: readonly string[] = [],
): Log => {
  const redact = redactorOf(secretWords)
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: cleaned },
    serializers: { err: (error) => withoutSecrets(pino.stdSerializers.err(error)) },
    hooks: { logMethod: withExcuses },
    mixin: ofRequest,
  }
  return Object.assign(pino(options, { write: (line) => to.write(redact(line)) }), { alarm })
}

function alarm(this: pino.Logger, fields: object, line: AlarmLine): void {
  this.error({ ...fields, alarm: true }, line)
}

function ofRequest() {
  const id = requestId()
  const trace = traceId()
  return { ...(id ? { requestId: id } : {}), ...(trace ? { traceId: trace } : {}) }
}

/** Lowers lines with a suppressed error to debug, except alarms. */
const withExcuses: NonNullable<pino.LoggerOptions['hooks']>['logMethod'] = function (args, method, level) {
  const [fields] = args as [unknown]
  const { err, alarm } = (typeof fields === 'object' && fields ? fields : {}) as LogLine
  const isNoNews = (level === 40 || level === 50) && err && !alarm && isSuppressed(this, err)
  if (isNoNews) this.debug(...(args as [object, string]))
  else method.apply(this, args)
}

type LogLine = { readonly err?: unknown; readonly alarm?: boolean }

/** Logs a lasting problem at intervals, by key. A warning never delays the alarm of the same key. */
export type LogThrottled = {
  readonly warn: (key: string, fields: object, message: string) => void
  /** Logs a line that raises an alert. */
  readonly alarm: (key: string, fields: object, line: AlarmLine) => void
}

/** Most keys in memory, beyond which the oldest may be logged again too soon. */
const keysMax = 1_000

export function openLogThrottled(log: Log, clock: Clock, everyMs = 10_000): LogThrottled {
  const logged = new LRUCache<string, true>({
    max: keysMax,
    ttl: everyMs,
    ttlResolution: 0,
    perf: { now: clock },
  })
  const isNew = (level: keyof LogThrottled, key: string) => {
    const ofLevel = `${level} ${key}`
    if (logged.has(ofLevel)) return false
    logged.set(ofLevel, true)
    return true
  }
  return {
    warn: (key, fields, message) => void (isNew('warn', key) && log.warn(fields, message)),
    alarm: (key, fields, line) => void (isNew('alarm', key) && log.alarm(fields, line)),
  }
}
