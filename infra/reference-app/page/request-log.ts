export type LoggedRequest = {
  /** Number of the first request of a repeated question. */
  readonly id: number
  readonly number: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status?: number
  readonly answer?: string
  readonly times: number
}

const logMax = 60

/**
 * Replaces the session by the guide's variable. The signature of a transfer stays, because it is useless once the
 * transfer was made.
 */
export const withoutSecrets = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name.toLowerCase() === 'authorization' ? '$SESSION' : value]),
  )

/** Returns the method of a call to the chain. Undefined for a request to the gateway. */
const rpcMethodOf = ({ body = '' }: Pick<LoggedRequest, 'body'>): string | undefined =>
  body.includes('"jsonrpc"') ? /"method":"(\w+)"/.exec(body)?.[1] : undefined

export const nameOf = (exchange: LoggedRequest): string =>
  `${exchange.method} ${rpcMethodOf(exchange) ?? new URL(exchange.url).pathname}`

/** Returns what a request reads. Undefined for a request that changes something. */
function questionOf(exchange: LoggedRequest): string | undefined {
  if (exchange.method === 'GET') return exchange.url
  const call = rpcMethodOf(exchange)
  return call === undefined || call.startsWith('eth_send') ? undefined : `${exchange.url} ${call}`
}

/** Adds a request. A repeated question keeps its place and gets its newest response. */
export function added(log: readonly LoggedRequest[], next: LoggedRequest): readonly LoggedRequest[] {
  const question = questionOf(next)
  const at = log.findIndex(
    (one) => one.number === next.number || (question !== undefined && questionOf(one) === question),
  )
  const earlier = log[at]
  if (!earlier) return [next, ...log].slice(0, logMax)
  if (next.number < earlier.number) return log
  const times = earlier.number === next.number ? earlier.times : earlier.times + 1
  return log.with(at, { ...next, id: earlier.id, times })
}

const shellWord = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** Returns the request as a curl command. `$SESSION` is the header that the guide's `sign-in.sh` exports. */
export function curlOf({ method, url, headers, body }: LoggedRequest): string {
  const given = Object.entries(headers).map(([name, value]) =>
    value === '$SESSION' ? `-H "${name}: $SESSION"` : `-H ${shellWord(`${name}: ${value}`)}`,
  )
  const parts = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${shellWord(url)}`,
    ...given,
    ...(body === undefined ? [] : [`--data-raw ${shellWord(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Reports each request before and after its response. Throws as `fetch` does, so that the client can retry. */
export function recording(report: (exchange: LoggedRequest) => void): Fetch {
  // The first number is larger than every id that an earlier load of the page stored.
  let last = Date.now() * 1_000
  return async (url, init) => {
    const number = ++last
    const asked: LoggedRequest = {
      id: number,
      number,
      method: init.method ?? 'GET',
      url,
      times: 1,
      headers: withoutSecrets(init.headers as Record<string, string>),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    }
    report(asked)
    const response = await fetch(url, init)
    const type = response.headers.get('content-type')
    const answer = type === 'text/event-stream' ? type : await response.clone().text()
    report({ ...asked, status: response.status, answer })
    return response
  }
}
