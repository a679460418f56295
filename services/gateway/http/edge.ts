import { Elysia, NotFoundError } from 'elysia'
import { within } from '#platform/deadline'
import { requestSeconds, timer } from '#platform/metrics/measures'
import { requestIdHeader, withRequestId } from '#platform/request-id'
import { inFirstSpan, recordInSpan, spanOf, traceHeader } from '#platform/tracing/spans'
import type { Context } from '../context'
import { addressOf, type Caller, callerOf, introduce, proxiesOf, requestIdFrom } from './caller'
import { badRequest, failureHeaders, failureOf, Refused } from './failure'
import { answerHeaders, isPreflight, preflightHeaders } from './headers'
import { languageFor } from './language'
import { type AddressLimits, takeFrom } from './limit'
import { errorText } from './support'
import { readTarget } from './target'

/** Maximum duration of a request, in ms: longer than any may take. */
const requestDeadlineMs = 15_000

/** Durations are labelled by route template, so that no wallet or id becomes a label. */
const requests = timer({
  what: 'http_request_duration',
  help: 'HTTP request duration in seconds, by method, route and status.',
  labels: {
    method: ['GET', 'POST', 'OPTIONS', 'HEAD'],
    route: { atMost: 40 },
    status: { atMost: 40 },
  },
  buckets: requestSeconds,
})

type Behind = {
  handle: (request: Request) => Promise<Response>
  deadlineMs?: number
}

export function openEdge({ config, clock, log }: Context, behind: Behind) {
  const { handle, deadlineMs = requestDeadlineMs } = behind
  const headersFor = answerHeaders(config)
  const isProxy = proxiesOf(config.trustedProxies)
  const failed = (request: Request, error: unknown): Response => {
    const failure = failureOf(error, clock())
    const headers = { ...headersFor(request), ...failureHeaders(failure) }
    const language = languageFor({ request, set: { headers } })
    const text = errorText(failure.texts, { language, contact: config.supportContact })
    return Response.json({ error: text }, { status: failure.status, headers })
  }
  const answer = async (request: Request): Promise<Response> => {
    try {
      return await within(handle(request), deadlineMs, 'the request')
    } catch (error) {
      log.error({ err: error }, 'request failed')
      return failed(request, error)
    }
  }
  return async (request: Request, socketAddress: string): Promise<Response> => {
    const startedMs = performance.now()
    const forwardedFor = request.headers.get('x-forwarded-for')
    const address = addressOf(socketAddress, forwardedFor, isProxy)
    const path = readTarget(request)
    const caller: Caller = { address, path: path ?? '' }
    introduce(request, caller)
    const { method } = request
    const parent = request.headers.get(traceHeader)
    const id = requestIdFrom(request.headers.get(requestIdHeader), spanOf(parent))
    const first = { kind: 'server', requestId: id, parent: parent ?? undefined } as const
    const work = async () => {
      const isHost = path !== undefined
      const response = isHost ? await answer(request) : failed(request, badRequest({ code: 'host_missing' }))
      caller.leave?.()
      const { status } = response
      const route = caller.route ?? 'none'
      const learnt = { 'http.route': route, 'http.response.status_code': status }
      recordInSpan(learnt, `${method} ${route}`)
      requests.since(startedMs, { method, route, status: String(status) })
      if (leavesALine(method, route, status)) {
        const tookMs = Math.round(performance.now() - startedMs)
        log.info({ route, status, tookMs }, 'request answered')
      }
      return response
    }
    return withRequestId(id, () => inFirstSpan(method, first, work))
  }
}

/**
 * Returns true if the request is logged. Quotes and refused requests are not, so that a flood cannot fill the
 * disk.
 */
const leavesALine = (method: string, route: string, status: number): boolean =>
  method === 'POST' && status < 400 && route !== '/quote'

/** Adds what every response needs: headers, preflights and errors. Applies to unknown routes too. */
export function everyAnswer(
  { config, clock, log }: Context,
  limits: AddressLimits,
  methodsAt: (path: string) => readonly string[],
) {
  const headersFor = answerHeaders(config)
  const failureIn = (request: Request, error: unknown) => {
    try {
      if (!(error instanceof NotFoundError)) return failureOf(error, clock())
      const { address, path } = callerOf(request)
      takeFrom(limits.public, address)
      const isRoute = methodsAt(path).length > 0
      const { method } = request
      const notAllowed = new Refused(405, [{ code: 'method_not_allowed', method }])
      return failureOf(isRoute ? notAllowed : error, clock())
    } catch (refused) {
      return failureOf(refused, clock())
    }
  }
  return new Elysia({ name: 'every answer' })
    .onRequest(({ request, set }) => {
      Object.assign(set.headers, headersFor(request))
      if (!isPreflight(request)) return
      takeFrom(limits.probe, callerOf(request).address)
      Object.assign(set.headers, preflightHeaders)
      return new Response(null, { status: 204 })
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      callerOf(request).route = route
    })
    .onError({ as: 'global' }, ({ error, request, route, set }) => {
      const failure = failureIn(request, error)
      if (failure.status === 405) set.headers.allow = methodsAt(callerOf(request).path).join(', ')
      if (failure.level !== 'quiet') log[failure.level]({ err: error, route }, 'request failed')
      set.status = failure.status
      Object.assign(set.headers, failureHeaders(failure))
      const language = languageFor({ request, set })
      return { error: errorText(failure.texts, { language, contact: config.supportContact }) }
    })
}
