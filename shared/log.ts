import pino from 'pino'
import { requestId } from '#shared/request-id'

export type Log = pino.Logger

/** Field names that carry secrets or personal data, wherever in a log object they stand. */
export const redactedFields = [
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

const paths = redactedFields.flatMap((field) => {
  const key = field.includes('-') ? `["${field}"]` : field
  const dot = field.includes('-') ? '' : '.'
  return [key, `*${dot}${key}`, `*.*${dot}${key}`]
})

/** JSON lines on stdout, one per fact, in past tense; secrets and personal data are removed. */
export const openLog = (service: string, level: string, to?: pino.DestinationStream): Log => {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => (requestId() ? { requestId: requestId() } : {}),
    redact: { paths, censor: '[removed]' },
  }
  return to ? pino(options, to) : pino(options, pino.destination({ fd: 1, sync: true }))
}
