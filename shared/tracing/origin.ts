import { createHash } from 'node:crypto'
import type { SpanContext } from '@opentelemetry/api'

/**
 * Where the trace of a request begins. Rows and messages carry the request's id alone, so its trace and
 * its first span follow from that: whoever goes on with the request days later, after a webhook or a
 * crash, goes on with its trace.
 */
export type Origin = Pick<SpanContext, 'traceId' | 'spanId'>

/** What `requestIdOf` makes. */
const ofCaller = /^([0-9a-f]{32})\.[0-9a-f]{16}$/

export function originOf(requestId: string): Origin {
  const digest = createHash('sha256').update(requestId).digest('hex')
  const [, callersTrace] = ofCaller.exec(requestId) ?? []
  return { traceId: callersTrace ?? digest.slice(0, 32), spanId: digest.slice(32, 48) }
}

/**
 * The id of a request that came with a span of its caller's and without an id of its own: it names that
 * span, so that what follows from the request is of the caller's trace.
 */
export const requestIdOf = ({ traceId, spanId }: Origin): string => `${traceId}.${spanId}`
