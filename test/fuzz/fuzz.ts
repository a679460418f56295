import fc from 'fast-check'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { signIn } from '#shared/client/client'
import { type Operation, readOperations } from './document'
import { hostileBodies, hostileHeaders, hostilePaths, invalidOf, validOf } from './values'

type Ask = {
  readonly mood: 'valid' | 'invalid' | 'hostile'
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  readonly operation: Operation | undefined
}

export type FuzzReport = {
  readonly asked: number
  readonly statuses: ReadonlyMap<string, number>
  readonly findings: readonly string[]
}

const deadlineMs = 15_000
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND']

export async function fuzz(
  stack: Pick<Stack, 'info'>,
  person: Person,
  options: {
    readonly requests: number
    readonly seed: number
    /** Prefix of paths to leave out. */
    readonly without?: string
    /** Callback for each 503, before the retry. */
    readonly onLate?: () => void
  },
): Promise<FuzzReport> {
  const { info } = stack
  const all = await readOperations(info.gateway)
  const { without } = options
  const operations = all.filter(({ path }) => !without || !path.startsWith(without))
  const session = await signIn(person.account, Math.floor(Date.now() / 1000) + 3_600)
  const credentials: Record<string, Readonly<Record<string, string>>> = {
    session: { authorization: session },
    callbackToken: { 'x-callback-token': info.webhooks.payments.ID },
    identitySignature: { 'x-payload-digest': '00', 'x-payload-digest-alg': 'HMAC_SHA256_HEX' },
  }
  const asks = fc.sample(asksOf(operations, credentials), {
    numRuns: options.requests,
    seed: options.seed,
  })
  const statuses = new Map<string, number>()
  const findings: string[] = []
  for (const ask of asks) {
    const { said, late } = await insist(info.gateway, ask, options.onLate)
    const key = `${ask.mood} ${said.status}${late ? ' after retries' : ''}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
    const wrong = wrongWith(ask, said)
    if (wrong) findings.push(`${wrong}: ${wordsOf(ask)}`)
  }
  // A crash may show only as a 503 that succeeds on retry.
  for (const [name, { pid }] of Object.entries(stack.info.services))
    if (pid !== info.services[name]?.pid) findings.push(`${name} was restarted`)
  return { asked: asks.length, statuses, findings }
}

function asksOf(
  operations: readonly Operation[],
  credentials: Record<string, Readonly<Record<string, string>>>,
): fc.Arbitrary<Ask> {
  const operation = fc.constantFrom(...operations)
  const headersOf = ({ security, body }: Operation) => ({
    ...(security ? credentials[security] : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  })
  const described = (mood: 'valid' | 'invalid') =>
    operation.chain((one) => {
      const body = one.body
        ? (mood === 'valid' ? validOf(one.body) : invalidOf(one.body)).map((value) => JSON.stringify(value))
        : fc.constant(undefined)
      return fc.tuple(body, pathOf(one)).map(
        ([text, path]): Ask => ({
          mood,
          method: one.method,
          path,
          headers: headersOf(one),
          body: text,
          operation: one,
        }),
      )
    })
  const hostile = fc
    .tuple(
      operation,
      fc.constantFrom(...methods),
      fc.option(fc.constantFrom(...hostilePaths)),
      fc.option(fc.constantFrom(...hostileHeaders)),
      fc.option(fc.constantFrom(...hostileBodies)),
      fc.boolean(),
    )
    .map(([one, method, path, headers, body, isOwnMethod]): Ask => {
      const asked = isOwnMethod ? one.method : method
      const hasBody = asked !== 'GET' && asked !== 'HEAD'
      return {
        mood: 'hostile',
        method: asked,
        path: path ?? one.path.replace(/\{\w+\}/g, 'x'),
        headers: { ...headersOf(one), ...headers },
        body: hasBody ? (body ?? '{}') : undefined,
        operation: undefined,
      }
    })
  return fc.oneof(described('valid'), described('invalid'), hostile)
}

function pathOf({ path, parameters }: Operation): fc.Arbitrary<string> {
  const named = parameters.filter((one) => one.in === 'path' || one.in === 'query')
  const values = Object.fromEntries(named.map((one) => [one.name, validOf(one.schema)]))
  const required = named.filter((one) => one.in === 'path').map(({ name }) => name)
  return fc.record(values, { requiredKeys: required }).map((given: Record<string, unknown>) => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(given[name])))
    const query = named
      .filter((one) => one.in === 'query' && given[one.name] !== undefined)
      .map(({ name }) => [name, String(given[name])])
    return query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled
  })
}

type FuzzAnswer = { readonly status: number; readonly code: string | null; readonly text: string }

async function send(gateway: string, { method, path, headers, body }: Ask): Promise<FuzzAnswer> {
  try {
    const answer = await fetch(`${gateway}${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(deadlineMs),
      ...(body === undefined ? {} : { body: body as string }),
    })
    const { status } = answer
    const code = answer.headers.get('x-error-code')
    if (answer.headers.get('content-type') !== 'text/event-stream') return { status, code, text: await answer.text() }
    await answer.body?.cancel()
    return { status, code, text: '' }
  } catch (error) {
    // Bun refuses to send some hostile requests, and the server may close the connection.
    return { status: 0, code: null, text: (error as Error).message }
  }
}

const againForMs = 20_000
const againEveryMs = 400

/** Repeats a request after a 503: a busy machine is sometimes late, but a fault that the request causes recurs. */
async function insist(gateway: string, ask: Ask, onLate?: () => void): Promise<{ said: FuzzAnswer; late: boolean }> {
  const first = await send(gateway, ask)
  const givesUpAt = Date.now() + againForMs
  let said = first
  while (said.status === 503 && Date.now() < givesUpAt) {
    onLate?.()
    await pause(againEveryMs)
    said = await send(gateway, ask)
  }
  return { said, late: said !== first }
}

/** Statuses that are possible before a route is matched. */
const unrouted = new Set([302, 304, 400, 401, 404, 405, 413, 414, 429, 431])

function wrongWith({ mood, method, operation }: Ask, { status, code, text }: FuzzAnswer) {
  if (status === 0) return mood === 'hostile' ? undefined : `no response (${text})`
  // All dependencies are up, so no 5xx is expected.
  if (status >= 500) return `status ${status} ${code}: ${text.slice(0, 120)}`
  if (status >= 400) {
    const body = parsed(text)
    const isRefusal = typeof body?.error === 'string' && Object.keys(body).length === 1
    if (method !== 'HEAD' && !isRefusal && status !== 431 && status !== 414)
      return `error ${status} without { error }: ${text.slice(0, 120)}`
    if (method !== 'HEAD' && isRefusal && code === null) return `error ${status} without x-error-code`
  }
  if (!operation) return undefined
  const fits = operation.fits(status)
  if (!fits) return unrouted.has(status) && status !== 400 ? undefined : `undocumented status ${status}`
  if (!fits(parsed(text))) return `${status} does not match its schema: ${text.slice(0, 200)}`
  return undefined
}

function parsed(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const wordsOf = ({ mood, method, path, body }: Ask) =>
  `${mood} ${method} ${path.slice(0, 120)} ${String(body ?? '').slice(0, 300)}`
