import type { Log } from '#shared/log'
import type { App } from '../app'
import { hostFault, readTarget } from '../http/target'
import { pageFiles, securityHeaders } from './files'
import { strangeIn, tokenChecker } from './guard'
import type { Items } from './items'
import type { Live } from './live'
import type { Overview } from './overview'
import { pushing } from './pushed'
import type { Sandbox } from './sandbox'

/** Parts of the console; a missing part has no route. */
export type ConsoleParts = {
  /** Grants access to the console; empty disables it. */
  token: string
  /** Host names accepted in addition to IP addresses and `localhost`. */
  hosts: readonly string[]
  /** `silent` is the reason why live messages are unavailable. */
  live: Live | { silent: string }
  overview: Overview
  /** `silent` is the reason why items are unavailable. */
  items: Items | { silent: string }
  log: Log
  /** Aborted when this instance shuts down; pages reconnect to another. */
  leaving: AbortSignal
  /** Only in a stack with a sandbox. */
  sandbox?: Sandbox
}

type Route = (request: Request) => Promise<Response> | Response

const refusal = (status: number, error: string) => Response.json({ error }, { status })

/**
 * Serves the console page and its data on the operators' listener; `operators` handles all other paths.
 * The page itself holds no data and needs no token; every route that shows or changes an item does.
 */
export function openConsole(parts: ConsoleParts, operators: App): App {
  const files = pageFiles(parts.sandbox !== undefined)
  const carriesToken = tokenChecker(parts.token)
  const routes = routesOf(parts)
  const closed = 'The console is disabled: CONSOLE_TOKEN is not set.'

  const answer: App = async (request, address) => {
    const { pathname } = new URL(request.url)
    const file = request.method === 'GET' && files.get(pathname)
    if (file) return file()
    const route = routes(request.method, pathname)
    if (!route) return operators(request, address)
    if (parts.token === '') return refusal(403, closed)
    if (!carriesToken(request)) return refusal(401, 'The console token is missing or wrong.')
    return route(request)
  }
  const guarded: App = async (request, address) => {
    if (readTarget(request) === undefined) return refusal(400, hostFault)
    const strange = strangeIn(request, parts.hosts)
    return strange ? refusal(403, refusals[strange]) : answer(request, address)
  }
  return async (request, address) => {
    const response = await guarded(request, address)
    for (const [name, value] of Object.entries(securityHeaders))
      if (!response.headers.has(name)) response.headers.set(name, value)
    return response
  }
}

/** Finds the routes that show or change items, all of which need the token. */
function routesOf(parts: ConsoleParts): (method: string, path: string) => Route | undefined {
  const { sandbox } = parts
  const fixed = new Map<string, Route>([
    ['GET /console/about', () => Response.json({ sandbox: sandbox !== undefined })],
    ['GET /console/live', () => liveAnswer(parts)],
    ['GET /console/attention', () => told(parts, (open) => open.attention())],
  ])
  if (sandbox) fixed.set('GET /console/deeds', sandbox.deeds)
  return (method, path) => {
    const [, item] = /^\/console\/items\/([^/]{1,300})$/.exec(path) ?? []
    const id = item && method === 'GET' ? decoded(item) : undefined
    if (id) return () => told(parts, (open) => open.read(id))
    const [, deed] = /^\/console\/deeds\/([a-z-]{1,30})$/.exec(path) ?? []
    if (sandbox && deed && method === 'POST') return (request) => sandbox.act(deed, request)
    return fixed.get(`${method} ${path}`)
  }
}

/** Decodes a path segment; returns undefined if it is malformed. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Responds with data from the database, or with a 503 if it cannot be read. */
async function told(
  { items, log }: ConsoleParts,
  read: (open: Items) => Promise<unknown>,
): Promise<Response> {
  if ('silent' in items) return refusal(503, items.silent)
  return read(items).then(
    (found) => Response.json(found),
    (error) => {
      log.warn({ err: error }, 'console database read failed')
      return refusal(503, 'The database cannot be read right now.')
    },
  )
}

const refusals = {
  host: 'Unknown host name: add it to OPS_ALLOWED_HOSTS.',
  origin: 'Requests from another origin are not allowed.',
  site: 'Requests from another site are not allowed.',
}

/** Streams all live data on one connection: messages and the overview. */
function liveAnswer({ live, overview, leaving }: ConsoleParts): Response {
  return pushing(leaving, (push) => {
    const ends: (() => void)[] = []
    if ('silent' in live) push('deaf', { reason: live.silent })
    else {
      const { lately, listening, end } = live.watch((heard) => push('motion', heard))
      ends.push(end)
      for (const heard of lately) push('motion', heard)
      listening.then(
        () => push('listening', {}),
        () => push('deaf', { reason: 'NATS is not responding.' }),
      )
    }
    ends.push(overview.watch((seen) => push('overview', seen)))
    return () => {
      for (const end of ends) end()
    }
  })
}
