import { createHash, timingSafeEqual } from 'node:crypto'
import { jsonObject } from '#platform/schema'
import { type Account, accounts } from '../account'
import { balanceEndpoints } from '../balance'
import { holderControls, holderEndpoints } from '../channels/holder'
import { type Context, nowMs, type ProviderConfig } from '../context'
import type { Control } from '../controls/control'
import { payerControls } from '../controls/payer-controls'
import { paymentControls } from '../controls/payment-controls'
import { payoutControls } from '../controls/payout-controls'
import { noFaults } from '../faults'
import { hasForm } from '../ids'
import type { JsonObject } from '../json'
import { disputeEndpoints } from './dispute'
import type { ProviderCall, ProviderEndpoint } from './endpoint'
import { paymentEndpoints } from './payment-endpoints'
import { planPayout } from './payout'
import { payoutEndpoints } from './payout-endpoints'
import { payoutV3Endpoints } from './payout-v3'
import { Problem } from './problem'
import { openRateLimit } from './rate-limit'
import { planRefund } from './refund'
import { refundEndpoints } from './refund-endpoints'
import { openRouter } from './router'
import { planExpiry, sessionEndpoints } from './session-endpoints'
import { transactionEndpoints } from './transaction-endpoints'

// The payment provider without HTTP. Its routes are in `routes.ts`; the simulation calls it in virtual time.

export type ProviderRequest = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  /** Text of the body, which is empty if there is none. */
  readonly body: string
}

export type ProviderResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export type ProviderCore = {
  /** Answers a request. After `silence` it has done its work, and the client never gets a response. */
  readonly answer: (request: ProviderRequest) => ProviderResponse | 'silence'
  /** Executes the control with this path, such as `payments/py-…/refund`. Throws `Refusal`. */
  readonly control: (path: string, body?: JsonObject) => unknown
  /** Plans the changes that are due, after the book was read from its journal. */
  readonly resume: () => void
}

export const endpoints: readonly ProviderEndpoint[] = [
  ...sessionEndpoints,
  ...paymentEndpoints,
  ...refundEndpoints,
  ...disputeEndpoints,
  ...payoutEndpoints,
  ...payoutV3Endpoints,
  ...holderEndpoints,
  ...transactionEndpoints,
  ...balanceEndpoints,
]

export const providerControls = (context: Context): readonly Control[] => [
  ...payerControls(context),
  ...paymentControls(context),
  ...payoutControls(context),
  ...holderControls(context),
]

export function openProvider(context: Context): ProviderCore {
  const count = openRateLimit(context.clock)
  const endpointOf = openRouter(endpoints)
  const controlOf = openRouter(providerControls(context))
  return {
    answer(request) {
      let headers: Record<string, string> = { Date: new Date(nowMs(context)).toUTCString() }
      try {
        const account = accountOf(request.headers, context.config)
        const found = endpointOf(request.method, request.path)
        if (!found) throw new Problem('NOT_FOUND', 'No such path')
        const { route, id } = found
        const { chance, faults } = context
        const budget = count(account, `${route.method} ${route.path}`)
        headers = { ...headers, ...budget.headers }
        const { rateLimitRate } = faults.api
        // As observed, an occasional 429 comes although calls are left.
        if (rateLimitRate === 1) headers = { ...headers, 'Rate-Limit-Remaining': '0' }
        if (budget.exceeded || chance.hits(rateLimitRate)) throw tooMany()
        if (chance.hits(faults.api.forbidSender)) throw forbidden()
        if (chance.hits(faults.api.errorRate)) throw serverError()
        const call = callOf(request, account, id)
        const isWrite = route.method === 'POST'
        if (isWrite && chance.hits(faults.api.acceptLater)) {
          context.timers.at(context.clock() + faults.api.acceptLaterMs, () => doLate(route.run, context, call))
          throw serverError()
        }
        const { status = 200, body } = route.run(context, call)
        if (isWrite && chance.hits(faults.api.errorAfterAccept)) throw serverError()
        if (isWrite && chance.hits(faults.api.timeoutAfterAccept)) return 'silence'
        return { status, headers, body }
      } catch (error) {
        if (error instanceof Problem) return { ...error.toAnswer(), headers }
        throw error
      }
    },
    control(path, body = {}) {
      const found = controlOf('POST', `/control/${path}`)
      if (!found) throw new Error(`no control ${path}`)
      return found.route.run(found.id, body)
    },
    resume() {
      for (const session of context.book.all('sessions')) if (session.status === 'ACTIVE') planExpiry(context, session)
      for (const payout of context.book.all('payouts')) planPayout(context, payout)
      for (const refund of context.book.all('refunds')) planRefund(context, refund)
    },
  }
}

function doLate(run: ProviderEndpoint['run'], context: Context, call: ProviderCall): void {
  try {
    const { clockAheadMs } = context.faults.api
    run({ ...context, faults: { ...noFaults, api: { ...noFaults.api, clockAheadMs } } }, call)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

const callOf = ({ method, headers, query, body }: ProviderRequest, account: Account, id: string): ProviderCall => ({
  account,
  headers,
  query,
  body: method === 'POST' ? bodyOf(body) : {},
  id: (kind) => {
    if (hasForm(kind, id)) return id
    throw new Problem('API_VALIDATION_ERROR', 'request/params/id must match the id of an object')
  },
})

function bodyOf(text: string): JsonObject {
  if (text.trim() === '') return {}
  const body = jsonObject(text)
  if (body) return body
  throw new Problem('API_VALIDATION_ERROR', 'request/body must be a JSON object')
}

function accountOf(headers: Headers, config: ProviderConfig): Account {
  const [, encoded] = /^Basic (\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
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
