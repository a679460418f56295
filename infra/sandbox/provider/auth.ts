import { createHash, timingSafeEqual } from 'node:crypto'
import { jsonObject } from '#platform/schema'
import { type Account, accounts } from '../account'
import type { Config } from '../config'
import type { Context } from '../context'
import { noFaults } from '../faults'
import { hasForm } from '../ids'
import { type Call, type JsonObject, param, type SandboxRoute } from '../route'
import { Problem } from './problem'
import { openRateLimit } from './rate-limit'

/** Request that has a valid key. */
export type ProviderCall = {
  readonly account: Account
  readonly headers: Headers
  readonly query: URLSearchParams
  readonly body: JsonObject
  /** Returns an id of the path. Throws for an id of another kind, as observed at the provider. */
  id(kind: Parameters<typeof hasForm>[0]): string
}

export type HttpAnswer = { readonly status?: number; readonly body: unknown }

export type ProviderEndpoint = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly run: (context: Context, call: ProviderCall) => HttpAnswer
}

// Time without a response in ms, longer than any client's timeout.
const silenceMs = 60_000

export function authenticated(context: Context, endpoints: readonly ProviderEndpoint[]): SandboxRoute[] {
  const count = openRateLimit()
  return endpoints.map(({ method, path, run }) => ({
    method,
    path,
    async run(request) {
      const { chance, faults, config } = context
      let headers: Record<string, string> = {}
      try {
        await Bun.sleep(faults.api.delayMs)
        const account = accountOf(request, config)
        const budget = count(account, `${method} ${path}`)
        headers = budget.headers
        const { rateLimitRate } = faults.api
        // As observed, an occasional 429 comes although calls are left.
        if (rateLimitRate === 1) headers = { ...headers, 'Rate-Limit-Remaining': '0' }
        if (budget.exceeded || chance.hits(rateLimitRate)) throw tooMany()
        if (chance.hits(faults.api.forbidSender)) throw forbidden()
        if (chance.hits(faults.api.errorRate)) throw serverError()
        const call = await callOf(request, account)
        if (method === 'POST' && chance.hits(faults.api.acceptLater)) {
          setTimeout(() => doLate(run, context, call), faults.api.acceptLaterMs).unref()
          throw serverError()
        }
        const answer = run(context, call)
        if (method === 'POST') await failAfterAccept(context, request.signal)
        return Response.json(answer.body, { status: answer.status ?? 200, headers })
      } catch (error) {
        if (error instanceof Problem) return error.toResponse(headers)
        throw error
      }
    },
  }))
}

function doLate(run: ProviderEndpoint['run'], context: Context, call: ProviderCall): void {
  try {
    const { clockAheadMs } = context.faults.api
    run({ ...context, faults: { ...noFaults, api: { ...noFaults.api, clockAheadMs } } }, call)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

async function failAfterAccept({ chance, faults }: Context, gone: AbortSignal): Promise<void> {
  if (chance.hits(faults.api.errorAfterAccept)) throw serverError()
  if (!chance.hits(faults.api.timeoutAfterAccept)) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, silenceMs)
    timer.unref()
    gone.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

async function callOf(request: Call, account: Account): Promise<ProviderCall> {
  return {
    account,
    headers: request.headers,
    query: new URL(request.url).searchParams,
    body: request.method === 'POST' ? bodyOf(await request.text()) : {},
    id: (kind) => {
      const id = param(request, 'id')
      if (hasForm(kind, id)) return id
      throw new Problem('API_VALIDATION_ERROR', 'request/params/id must match the id of an object')
    },
  }
}

function bodyOf(text: string): JsonObject {
  if (text.trim() === '') return {}
  const body = jsonObject(text)
  if (body) return body
  throw new Problem('API_VALIDATION_ERROR', 'request/body must be a JSON object')
}

function accountOf(request: Call, config: Config): Account {
  const [, encoded] = /^Basic (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (!encoded) throw new Problem('INVALID_API_KEY', 'API key format is invalid')
  const shown = Buffer.from(encoded, 'base64').toString()
  const account = accounts.find((candidate) => same(shown, `${config.secretKeys[candidate]}:`))
  if (!account) throw new Problem('INVALID_API_KEY', 'API key is not authorized for this API')
  return account
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const serverError = () => new Problem('SERVER_ERROR', 'An unexpected error occurred, please try again later')
const forbidden = () => new Problem('UNAUTHORIZED_SENDER_IP', 'The IP address is not on the allow-list of this account')
const tooMany = () => new Problem('RATE_LIMIT_EXCEEDED', 'Rate limit exceeded, please slow down your requests')
