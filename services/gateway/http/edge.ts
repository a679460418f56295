import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { requestIdHeader, withRequestId } from '#shared/request-id'
import type { Context } from '../context'
import type { HttpMetrics } from '../health/metrics'
import { addressOf, type Caller, introduce, requestIdFrom } from './caller'
import { corsOf, isPreflight, preflightHeaders } from './cors'
import { fail, failureOf } from './failure'

/** Longer than any question may take: what is still open then is stuck. */
const requestDeadlineMs = 15_000

/** What stands behind the edge. */
type Behind = {
  handle: (request: Request) => Promise<Response>
  metrics: HttpMetrics
  deadlineMs?: number
}

/**
 * What every request passes through, also one that no route takes: request id, caller, deadline,
 * CORS, security headers, figures.
 */
export function openEdge({ config, log }: Context, behind: Behind) {
  const always = Object.entries(securityHeaders(config.publicUrl.startsWith('https:')))
  const cors = corsOf(config.corsOrigins)
  return async (request: Request, socketAddress: string): Promise<Response> => {
    const startedMs = performance.now()
    const id = requestIdFrom(request.headers.get(requestIdHeader))
    const forwardedFor = request.headers.get('x-forwarded-for')
    const caller: Caller = {
      address: addressOf(socketAddress, forwardedFor, config.trustedProxyHops),
    }
    introduce(request, caller)
    const response = await withRequestId(id, () => answer(log, behind, request))
    for (const [name, value] of always)
      if (!response.headers.has(name)) response.headers.set(name, value)
    const { pathname } = new URL(request.url)
    const shared = cors.headersFor(pathname, request.headers.get('origin'))
    for (const [name, value] of Object.entries(shared)) response.headers.set(name, value)
    response.headers.set(requestIdHeader, id)
    behind.metrics.count({
      method: request.method,
      route: caller.route ?? 'none',
      status: response.status,
      tookMs: performance.now() - startedMs,
    })
    return response
  }
}

async function answer(log: Log, behind: Behind, request: Request): Promise<Response> {
  if (isPreflight(request)) return new Response(null, { status: 204, headers: preflightHeaders })
  try {
    const deadlineMs = behind.deadlineMs ?? requestDeadlineMs
    return await within(behind.handle(request), deadlineMs, 'the request')
  } catch (error) {
    log.error({ err: error }, 'request failed')
    return fail(failureOf(error))
  }
}

/** On every answer, unless the route chose its own. */
const securityHeaders = (overTls: boolean): Record<string, string> => ({
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'no-store',
  ...(overTls ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
})
