import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { requestIdHeader, withRequestId } from '#shared/request-id'
import type { HttpMetrics } from '../health/http-metrics.ts'
import { addressOf, type Caller, introduce } from './caller.ts'
import { type Cors, isPreflight, preflightHeaders } from './cors.ts'
import { failureOf } from './failure.ts'
import { requestIdFrom } from './request-id.ts'
import { fail } from './respond.ts'
import { securityHeaders } from './security-headers.ts'

/** Longer than any question may take: what is still open then is stuck. */
const requestDeadlineMs = 15_000

/** What stands in front of the router. */
export type Edge = {
  handle: (request: Request) => Promise<Response>
  cors: Cors
  overTls: boolean
  trustedProxyHops: number
  metrics: HttpMetrics
  log: Log
  deadlineMs?: number
}

/**
 * What every request passes through, also one that no route takes: request id, caller, deadline,
 * CORS, security headers, figures.
 */
export function openEdge(edge: Edge) {
  const always = Object.entries(securityHeaders(edge.overTls))
  return async (request: Request, socketAddress: string): Promise<Response> => {
    const startedMs = performance.now()
    const id = requestIdFrom(request.headers.get(requestIdHeader))
    const forwardedFor = request.headers.get('x-forwarded-for')
    const caller: Caller = {
      address: addressOf(socketAddress, forwardedFor, edge.trustedProxyHops),
    }
    introduce(request, caller)
    const response = await withRequestId(id, () => answer(edge, request))
    for (const [name, value] of always)
      if (!response.headers.has(name)) response.headers.set(name, value)
    const { pathname } = new URL(request.url)
    const cors = edge.cors.headersFor(pathname, request.headers.get('origin'))
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value)
    response.headers.set(requestIdHeader, id)
    edge.metrics.count({
      method: request.method,
      route: caller.route ?? 'none',
      status: response.status,
      tookMs: performance.now() - startedMs,
    })
    return response
  }
}

async function answer(edge: Edge, request: Request): Promise<Response> {
  if (isPreflight(request)) return new Response(null, { status: 204, headers: preflightHeaders })
  try {
    const deadlineMs = edge.deadlineMs ?? requestDeadlineMs
    return await within(edge.handle(request), deadlineMs, 'the request')
  } catch (error) {
    edge.log.error({ err: error }, 'request failed')
    return fail(failureOf(error))
  }
}
