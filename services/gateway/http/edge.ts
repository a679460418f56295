import { Elysia } from 'elysia'
import { within } from '#shared/deadline'
import { requestIdHeader, withRequestId } from '#shared/request-id'
import type { Context } from '../context'
import type { HttpMetrics } from '../health/metrics'
import { addressOf, type Caller, callerOf, introduce, proxiesOf, requestIdFrom } from './caller'
import { failureHeaders, failureOf } from './failure'
import { answerHeaders, isPreflight, preflightHeaders } from './headers'

/** Longer than any question may take: what is still open then hangs. */
const requestDeadlineMs = 15_000

/** What stands behind the edge. */
type Behind = {
  handle: (request: Request) => Promise<Response>
  metrics: HttpMetrics
  deadlineMs?: number
}

/** Around every request: request id, caller, deadline, figures. */
export function openEdge({ config, log }: Context, behind: Behind) {
  const { handle, metrics, deadlineMs = requestDeadlineMs } = behind
  const headersFor = answerHeaders(config)
  const isProxy = proxiesOf(config.trustedProxies)
  const answer = async (request: Request): Promise<Response> => {
    try {
      return await within(handle(request), deadlineMs, 'the request')
    } catch (error) {
      log.error({ err: error }, 'request failed')
      const failure = failureOf(error)
      const headers = { ...headersFor(request), ...failureHeaders(failure) }
      return Response.json({ error: failure.message }, { status: failure.status, headers })
    }
  }
  return async (request: Request, socketAddress: string): Promise<Response> => {
    const startedMs = performance.now()
    const forwardedFor = request.headers.get('x-forwarded-for')
    const address = addressOf(socketAddress, forwardedFor, isProxy)
    const caller: Caller = { address }
    introduce(request, caller)
    const id = requestIdFrom(request.headers.get(requestIdHeader))
    const response = await withRequestId(id, () => answer(request))
    caller.leave?.()
    metrics.count({
      method: request.method,
      route: caller.route ?? 'none',
      status: response.status,
      tookMs: performance.now() - startedMs,
    })
    return response
  }
}

/** In every answer of the router, also where no route takes the request: headers and failures. */
export function everyAnswer({ config, log }: Context) {
  const headersFor = answerHeaders(config)
  return new Elysia({ name: 'every answer' })
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, headersFor(request))
      if (!isPreflight(request)) return
      Object.assign(set.headers, preflightHeaders)
      return new Response(null, { status: 204 })
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      callerOf(request).route = route
    })
    .onError({ as: 'global' }, ({ error, route, set }) => {
      const failure = failureOf(error)
      if (failure.level !== 'quiet') log[failure.level]({ err: error, route }, 'request failed')
      set.status = failure.status
      Object.assign(set.headers, failureHeaders(failure))
      return { error: failure.message }
    })
}
