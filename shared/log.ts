import { LRUCache } from 'lru-cache'
import pino from 'pino'
import type { Clock } from '#shared/clock'
import { isExcused } from '#shared/outages/excuses'
import { fieldRemover, redactorOf } from '#shared/redaction'
import { requestId } from '#shared/request-id'
import { traceId } from '#shared/tracing/spans'

export type Log = pino.Logger

/** Field names that carry secrets or personal data, wherever in a log object they stand. */
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

/** An error comes as it is, and is cleaned once its serializer has told what is in it. */
const cleaned = ({ err, ...fields }: Record<string, unknown>) => ({
  ...(withoutSecrets(fields) as Record<string, unknown>),
  ...(err === undefined ? {} : { err }),
})

/**
 * JSON lines on stdout, one per fact, in past tense; secrets and personal data are removed: fields by
 * their names, and `secretWords` from the finished line, as errors of libraries quote what they
 * were given wherever they like.
 */
export const openLog = (
  service: string,
  level: string,
  to: pino.DestinationStream = pino.destination({ fd: 1, sync: true }),
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
  return pino(options, { write: (line) => to.write(redact(line)) })
}

/** What a line is because of; pino adds the fields to an object of its own for each line. */
function ofRequest() {
  const id = requestId()
  const trace = traceId()
  return { ...(id ? { requestId: id } : {}), ...(trace ? { traceId: trace } : {}) }
}

/** A warning about an error that has an excuse is for debugging; one that calls a person stays. */
const withExcuses: NonNullable<pino.LoggerOptions['hooks']>['logMethod'] = function (
  this: Log,
  args,
  method,
  level,
) {
  const [fields] = args as [unknown]
  const { err, alarm } = (typeof fields === 'object' && fields ? fields : {}) as Line
  const isNoNews = (level === 40 || level === 50) && err && !alarm && isExcused(this, err)
  if (isNoNews) this.debug(...(args as [object, string]))
  else method.apply(this, args)
}

type Line = { readonly err?: unknown; readonly alarm?: boolean }

/** Logs a lasting problem once in a while, by its key; `alarm` among the fields calls a person. */
export type LogThrottled = (key: string, fields: Record<string, unknown>, message: string) => void

/** Keys that are remembered at most; of more, the oldest may be logged again too soon. */
const keysMax = 1_000

/** A log for what fails in every round: one line per key in `everyMs`, a warning or an alarm. */
export function openLogThrottled(log: Log, clock: Clock, everyMs = 10_000): LogThrottled {
  const logged = new LRUCache<string, true>({
    ...{ max: keysMax, ttl: everyMs, ttlResolution: 0, perf: { now: clock } },
  })
  return (key, fields, message) => {
    if (logged.has(key)) return
    logged.set(key, true)
    log[fields.alarm ? 'error' : 'warn'](fields, message)
  }
}
