import type { Ask } from '#platform/bus/ask'
import type { Log } from '#platform/log'
import { tokenMatcher } from '#shared/api/console-token'
import { textIn } from '#shared/language/catalogue'
import { ConsoleAttention, ConsoleFind, ConsoleItem } from '#shared/messages/operations'
import type { App } from '../app'
import { sseResponse } from '../http/sse'
import { readTarget } from '../http/target'
import type { PageFeed } from './feed'
import { pageFiles, securityHeaders } from './files'
import { checkOrigin, tokenIn } from './origin-check'
import { answerOperatorQuestion, type OperatorAnswer } from './questions'
import type { SandboxControls } from './sandbox'

/** Parts of the console. It reads nothing itself: `operations` answers. */
type ConsoleParts = {
  /** Token of the operators; an empty one disables the console. */
  token: string
  hosts: readonly string[]
  ask: Ask
  feed: PageFeed
  log: Log
  /** Signal of the shutdown, after which pages reconnect to another instance. */
  leaving: AbortSignal
  sandbox?: SandboxControls
}

type Route = (request: Request) => Promise<Response> | Response

const refusal = (status: number, error: string) => Response.json({ error }, { status })

/** Opens the console. The page itself has no data and needs no token. */
export function openConsole(parts: ConsoleParts, operators: App): App {
  const files = pageFiles(parts.sandbox !== undefined)
  const isToken = tokenMatcher(parts.token)
  const routes = routesOf(parts)
  const closed = 'The console is disabled: CONSOLE_TOKEN is not set.'

  const answer: App = async (request, address) => {
    const { pathname } = new URL(request.url)
    const file = request.method === 'GET' && files.get(pathname)
    if (file) return file()
    const route = routes(request.method, pathname)
    if (!route) return operators(request, address)
    if (parts.token === '') return refusal(403, closed)
    if (!isToken(tokenIn(request))) return refusal(401, 'The console token is missing or wrong.')
    return route(request)
  }
  const guarded: App = async (request, address) => {
    if (readTarget(request) === undefined) return refusal(400, textIn('en', [{ code: 'host_missing' }]))
    const strange = checkOrigin(request, parts.hosts)
    return strange ? refusal(403, refusals[strange]) : answer(request, address)
  }
  return async (request, address) => {
    const response = await guarded(request, address)
    for (const [name, value] of Object.entries(securityHeaders))
      if (!response.headers.has(name)) response.headers.set(name, value)
    return response
  }
}

/** Returns the routes of the console, which all need the token. */
function routesOf(parts: ConsoleParts): (method: string, path: string) => Route | undefined {
  const { sandbox, ask, feed, log, leaving } = parts
  const tokenOf = (request: Request) => ({ token: tokenIn(request) })
  const fixed = new Map<string, Route>([
    ['GET /console/about', () => Response.json({ sandbox: sandbox !== undefined })],
    ['GET /console/live', (request) => sseResponse(leaving, ({ push }) => feed.watch(tokenIn(request), push))],
    [
      'GET /console/attention',
      async (request) => answerOf(await answerOperatorQuestion(ask(ConsoleAttention, tokenOf(request), answerMs), log)),
    ],
    [
      'GET /console/find',
      async (request) => {
        const search = searchIn(new URL(request.url).searchParams)
        return answerOf(await answerOperatorQuestion(ask(ConsoleFind, { ...tokenOf(request), search }, answerMs), log))
      },
    ],
  ])
  if (sandbox) fixed.set('GET /console/actions', sandbox.actions)
  return (method, path) => {
    const [, item] = /^\/console\/items\/([^/]{1,300})$/.exec(path) ?? []
    const id = item && method === 'GET' ? decoded(item) : undefined
    if (id)
      return async (request) =>
        answerOf(await answerOperatorQuestion(ask(ConsoleItem, { ...tokenOf(request), id }, answerMs), log))
    const [, action] = /^\/console\/actions\/([a-z-]{1,30})$/.exec(path) ?? []
    if (sandbox && action && method === 'POST') return (request) => sandbox.act(action, request)
    return fixed.get(`${method} ${path}`)
  }
}

/** Most characters of a field of a search. No amount, time, id or name of a channel is longer. */
const typedMax = 100

/** Returns the fields that the operator filled in. `operations` judges what they contain. */
const searchIn = (typed: URLSearchParams) =>
  Object.fromEntries(
    Object.keys(ConsoleFind.request.properties.search.properties).flatMap((field) => {
      const text = typed.get(field)?.trim()
      return text ? [[field, text.slice(0, typedMax)]] : []
    }),
  )

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Deadline of an answer, in ms: longer than a read of `operations`, whose statements end after 5 s. */
const answerMs = 8_000

const answerOf = (read: OperatorAnswer): Response =>
  'shown' in read ? Response.json(read.shown) : refusal(read.status, read.fault)

const refusals = {
  host: 'Unknown host name: add it to OPS_ALLOWED_HOSTS.',
  origin: 'Requests from another origin are not allowed.',
  site: 'Requests from another site are not allowed.',
}
