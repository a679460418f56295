import type { Log } from '#shared/log'
import type { App } from '../app'
import { pageFiles, securityHeaders } from './files'
import { strangeIn, tokenChecker } from './guard'
import type { Items } from './items'
import type { Live } from './live'
import type { Overview } from './overview'
import { pushing } from './pushed'
import type { Sandbox } from './sandbox'

/** What the console shows, and what it may do. What is not there has no route. */
export type ConsoleParts = {
  /** Opens the console to whoever has it; empty: closed. */
  token: string
  /** Names under which browsers may reach this listener, besides addresses and `localhost`. */
  hosts: readonly string[]
  /** Why nothing can be heard, when nothing can. */
  live: Live | { silent: string }
  overview: Overview
  /** Why no item can be shown, when none can. */
  items: Items | { silent: string }
  log: Log
  /** Aborted once this copy is to end: pages connect to another. */
  leaving: AbortSignal
  /** Only in a stack with a sandbox. */
  sandbox?: Sandbox
}

type Route = (request: Request) => Promise<Response> | Response

const refusal = (status: number, error: string) => Response.json({ error }, { status })

/**
 * The listener of operators: the page of the console and its data, before `operators`, which answers
 * everything else. The page itself tells nothing, and so needs no token; whatever shows an item or
 * changes something does.
 */
export function openConsole(parts: ConsoleParts, operators: App): App {
  const files = pageFiles(parts.sandbox !== undefined)
  const carriesToken = tokenChecker(parts.token)
  const routes = routesOf(parts)
  const closed = 'The console is closed here: CONSOLE_TOKEN is not set.'

  const answer: App = async (request, address) => {
    const { pathname } = new URL(request.url)
    const file = request.method === 'GET' && files.get(pathname)
    if (file) return file()
    const route = routes(request.method, pathname)
    if (!route) return operators(request, address)
    if (parts.token === '') return refusal(403, closed)
    if (!carriesToken(request)) return refusal(401, 'This needs the token of the console.')
    return route(request)
  }
  return async (request, address) => {
    const strange = strangeIn(request, parts.hosts)
    const response = strange ? refusal(403, refusals[strange]) : await answer(request, address)
    for (const [name, value] of Object.entries(securityHeaders))
      if (!response.headers.has(name)) response.headers.set(name, value)
    return response
  }
}

/** Whatever shows an item or changes something. */
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

/** A part of a path as it was meant; none when nobody can mean it. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** What the rows say; why not, when they cannot be read. */
async function told(
  { items, log }: ConsoleParts,
  read: (open: Items) => Promise<unknown>,
): Promise<Response> {
  if ('silent' in items) return refusal(503, items.silent)
  return read(items).then(
    (found) => Response.json(found),
    (error) => {
      log.warn({ err: error }, 'console could not read the rows')
      return refusal(503, 'The rows cannot be read now.')
    },
  )
}

const refusals = {
  host: 'This name is not known here: see OPS_HOSTS.',
  origin: 'A page of another origin may not ask this.',
  site: 'Another site may not ask this.',
}

/** Everything that changes by itself, on one connection: what moves, and the state of the whole. */
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
        () => push('deaf', { reason: 'The bus does not answer.' }),
      )
    }
    ends.push(overview.watch((seen) => push('overview', seen)))
    return () => {
      for (const end of ends) end()
    }
  })
}
