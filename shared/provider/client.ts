import type { Static, TSchema } from 'typebox'
import { type Clock, steadyClock, systemClock } from '#platform/clock'
import { pause, within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { requestSeconds, timer } from '#platform/metrics/measures'
import { schemaReader } from '#platform/schema'
import { inSpan, recordInSpan } from '#platform/tracing/spans'
import type { ProviderAccount } from '#shared/money/pair'
import { endpointOf, exhaustedForMs, parseExact, readAnswer, refusalFrom, retryAfterMs } from '#shared/provider/answer'
import { openProviderClock, type ProviderClock } from '#shared/provider/clock'
import { ProviderBusy, type ProviderRefusal, ProviderUnknown } from '#shared/provider/problem'
import { openRateLimit, type RateLimit } from '#shared/provider/rate-limit'

/** Outcome of a call. Any other is thrown: `ProviderUnknown`, `ProviderBusy`. */
export type ProviderAnswer<T> = { ok: T } | { refused: ProviderRefusal }

type ResponseForm<S extends TSchema> = {
  /** Schema of a successful response, in which numbers are `ProviderNumber`. */
  schema: S
  apiVersion?: string
  /** Deadline in ms, which includes waits and retries. */
  deadlineMs?: number
}
type Writing<S extends TSchema> = ResponseForm<S> & { body?: unknown; idempotencyKey?: string }

/** One account at the provider: one secret key, one currency, one budget of calls. */
export type ProviderClient = {
  readonly account: ProviderAccount
  /**
   * Returns how far the provider's clock is ahead of ours, as `ProviderClock` does. The provider's times are compared
   * with ours only after this is subtracted.
   */
  readonly aheadMs: () => number
  readonly now: () => number
  /** Reads. The call is retried if its outcome is unknown, since reading has no effect. */
  readonly get: <S extends TSchema>(path: string, options: ResponseForm<S>) => Promise<ProviderAnswer<Static<S>>>
  /** Writes. The call is sent once, except after a 429, when nothing was done. */
  readonly post: <S extends TSchema>(path: string, options: Writing<S>) => Promise<ProviderAnswer<Static<S>>>
}

/** The parts of a response that the client reads. */
export type Exchanged = {
  readonly status: number
  readonly headers: Headers
  readonly body: (AsyncIterable<Uint8Array> & { cancel?: () => Promise<void> }) | null
}

/** Sends a request. Throws if no response comes before the deadline. */
export type Exchange = (
  url: string,
  request: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
  deadlineMs: number,
) => Promise<Exchanged>

const overHttp: Exchange = (url, request, deadlineMs) =>
  fetch(url, {
    ...request,
    redirect: 'manual', // Following a redirect would send the key to its target.
    signal: AbortSignal.timeout(deadlineMs),
  })

export type ProviderOptions = {
  /** Base URL for both modes; the key selects test or live mode. */
  baseUrl: string
  secretKey: string
  account: ProviderAccount
  /** Limit per endpoint of the account: 600 live, 60 in test mode, by the provider's rate limit page. */
  requestsPerMinute: number
  /** Returns the number of instances that share the budget. */
  copies?: () => number
  log: Log
  clock?: Clock
  exchange?: Exchange
}

/** A call, whose waits and deadlines use `steadyClock`, so that they end in time although a clock is set. */
type Call = {
  method: 'GET' | 'POST'
  endpoint: string
  url: string
  headers: Record<string, string>
  body?: string
  schema: TSchema
  endsAt: number
}
type CallOutcome = ProviderAnswer<unknown> | { busyForMs: number } | { unknown: Error }

/** Endpoints that both payments and payouts call on the Indonesian account. */
const calledByTwoServices = ['GET /transactions']

const deadlineDefaultMs = 6_000
/** Timeout of one attempt of a GET in ms, which leaves time for another after a lost packet. */
const readingDeadlineMs = 3_000
const attemptsMax = 3

/** Opens a client with basic authentication: the key as user name, and no password. */
export function openProviderClient(options: ProviderOptions): ProviderClient {
  const clock = options.clock ?? systemClock
  const limit = openRateLimit(options.requestsPerMinute, steadyClock, {
    ...(options.copies && { copies: options.copies }),
    alsoCalledByOthers: options.account === 'ID' ? calledByTwoServices : [],
  })
  const theirs = openProviderClock(clock)
  const authorization = `Basic ${Buffer.from(`${options.secretKey}:`).toString('base64')}`
  const run = async (method: Call['method'], path: string, asked: Writing<TSchema>) => {
    const call: Call = {
      method,
      endpoint: endpointOf(method, path),
      url: options.baseUrl + path,
      headers: headersOf(authorization, asked),
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
      schema: asked.schema,
      endsAt: steadyClock() + (asked.deadlineMs ?? deadlineDefaultMs),
    }
    return repeat(call, { exchange: overHttp, ...options, limit, theirs })
  }
  return {
    account: options.account,
    aheadMs: theirs.aheadMs,
    now: theirs.now,
    get: (path, asked) => run('GET', path, asked) as never,
    post: (path, asked) => run('POST', path, asked) as never,
  }
}

function headersOf(authorization: string, asked: Writing<TSchema>): Record<string, string> {
  return {
    Authorization: authorization,
    Accept: 'application/json',
    ...(asked.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(asked.apiVersion ? { 'api-version': asked.apiVersion } : {}),
    ...(asked.idempotencyKey ? { 'Idempotency-key': asked.idempotencyKey } : {}),
  }
}

type Means = {
  account: ProviderAccount
  log: Log
  limit: RateLimit
  theirs: ProviderClock
  exchange: Exchange
}

async function repeat(call: Call, means: Means): Promise<ProviderAnswer<unknown>> {
  const { endpoint, method } = call
  for (let attempt = 1; ; attempt++) {
    await waitForTurn(call, means)
    const outcome = await attemptOnce(call, means)
    if ('ok' in outcome || 'refused' in outcome) return recorded(call, means, outcome)
    const last = attempt >= attemptsMax
    if ('busyForMs' in outcome) {
      means.limit.block(endpoint, outcome.busyForMs)
      if (last) throw new ProviderBusy(endpoint, means.limit.waitMs(endpoint))
      continue
    }
    const { unknown } = outcome
    means.log.warn({ account: means.account, endpoint, attempt, err: unknown }, 'provider outcome unknown')
    const restMs = 100 * 3 ** attempt * (0.5 + Math.random())
    if (method !== 'GET' || last || steadyClock() + restMs >= call.endsAt) throw unknown
    await pause(restMs)
  }
}

async function waitForTurn({ endpoint, endsAt }: Call, { limit }: Means): Promise<void> {
  // The other half of the time is for the call itself.
  const patienceMs = (endsAt - steadyClock()) / 2
  const waitMs = patienceMs > 0 ? limit.reserve(endpoint, patienceMs) : null
  if (waitMs === null) throw new ProviderBusy(endpoint, limit.waitMs(endpoint))
  if (waitMs > 0) await pause(waitMs)
}

function recorded(call: Call, { log, account }: Means, answer: ProviderAnswer<unknown>) {
  if ('refused' in answer) {
    const { status, code, meaning } = answer.refused
    const fields = { account, endpoint: call.endpoint, status, code }
    log[meaning === 'account_misconfigured' ? 'alarm' : 'info'](fields, 'provider rejected request')
  }
  return answer
}

const calls = timer({
  what: 'provider_call_duration',
  help: 'Duration of one attempt to call the payment provider, by endpoint and outcome (busy: 429), in seconds.',
  labels: {
    account: ['ID', 'MY'],
    endpoint: { atMost: 20 },
    outcome: ['ok', 'refused', 'busy', 'unknown'],
  },
  buckets: requestSeconds,
})

const wordOf = (outcome: CallOutcome) => {
  if ('ok' in outcome) return 'ok'
  if ('refused' in outcome) return 'refused'
  return 'busyForMs' in outcome ? 'busy' : 'unknown'
}

async function attemptOnce(call: Call, means: Means): Promise<CallOutcome> {
  const startedMs = performance.now()
  const { account } = means
  const words = { kind: 'client', attributes: { account } } as const
  const outcome = await inSpan(`provider ${call.endpoint}`, words, async () => {
    const ended = await exchangeInTime(call, means)
    recordInSpan({ outcome: wordOf(ended) })
    return ended
  })
  calls.since(startedMs, { account, endpoint: call.endpoint, outcome: wordOf(outcome) })
  return outcome
}

async function exchangeInTime(call: Call, means: Means): Promise<CallOutcome> {
  const leftMs = Math.max(1, call.endsAt - steadyClock())
  const deadlineMs = call.method === 'GET' ? Math.min(leftMs, readingDeadlineMs) : leftMs
  try {
    return await within(exchange(call, means, deadlineMs), deadlineMs, call.endpoint)
  } catch (error) {
    if (error instanceof ProviderUnknown) return { unknown: error }
    return { unknown: new ProviderUnknown(`no response from ${call.endpoint}`, { cause: error }) }
  }
}

async function exchange(call: Call, means: Means, deadlineMs: number): Promise<CallOutcome> {
  const { endpoint, url, method, headers, body } = call
  const request = { method, headers, ...(body === undefined ? {} : { body }) }
  const response = await means.exchange(url, request, deadlineMs)
  const { status } = response
  if (status === 429) {
    void response.body?.cancel?.()
    means.theirs.read(response.headers)
    return { busyForMs: retryAfterMs(response.headers, means.theirs.now()) }
  }
  const restMs = exhaustedForMs(response.headers)
  if (restMs > 0) means.limit.block(endpoint, restMs)
  const read = parseExact(await readAnswer(response, endpoint))
  const outcome = outcomeOf(call, status, read)
  // The page of a proxy in front has a clock of its own, so its time is not read.
  if (!('unknown' in outcome)) means.theirs.read(response.headers)
  return outcome
}

function outcomeOf(call: Call, status: number, read: unknown): CallOutcome {
  if (status >= 200 && status < 300) return accepted(call, read)
  const refusal = refuses(status) ? refusalFrom(status, read) : undefined
  if (refusal) return { refused: refusal }
  return { unknown: new ProviderUnknown(`${call.endpoint} returned ${status}`) }
}

/** Returns true if nothing was done: for a 4xx, except for 408 and 425, which concern timing. */
const refuses = (status: number) => status >= 400 && status < 500 && ![408, 425].includes(status)

function accepted({ endpoint, schema }: Call, body: unknown): CallOutcome {
  const read = schemaReader(schema)(body)
  if ('value' in read) return { ok: read.value }
  return { unknown: new ProviderUnknown(`${endpoint} returned an unexpected body: ${read.fault}`) }
}
