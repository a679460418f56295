import { createHash } from 'node:crypto'
import type { SpanContext } from '@opentelemetry/api'

/**
 * Origin of a trace, derived from the request id. Rows and messages store that id, so work days later continues the
 * same trace.
 */
export type Origin = Pick<SpanContext, 'traceId' | 'spanId'>

const ofCaller = /^([0-9a-f]{32})\.[0-9a-f]{16}$/

export function originOf(requestId: string): Origin {
  const digest = createHash('sha256').update(requestId).digest('hex')
  const [, callersTrace] = ofCaller.exec(requestId) ?? []
  return { traceId: callersTrace ?? digest.slice(0, 32), spanId: digest.slice(32, 48) }
}

/**
 * Returns the id for a request that has a caller's span but no id, so that all further work belongs to the caller's
 * trace.
 */
export const requestIdOf = ({ traceId, spanId }: Origin): string => `${traceId}.${spanId}`
