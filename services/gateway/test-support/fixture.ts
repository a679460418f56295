import { type Ask, Unavailable } from '#platform/bus/ask'
import type { Published } from '#platform/bus/publish'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { RefusalCode } from '#shared/refusals'
import { type App, openApp } from '../app'
import { assemble } from '../assemble'
import { type Config, fields } from '../config'
import type { Context } from '../context'
import type { News } from '../events/news'
import { chooseIdentityProvider } from '../identity/providers/choose'
import { openOperatorListener } from '../operators/listener'
import type { User } from '../users/user.store'
import { nowMs } from './wallets'

/** Replies by subject; other subjects have no responder. */
export type Replies = Record<string, (request: never) => unknown>

export function askOf(replies: Replies): { ask: Ask; asked: [string, unknown][] } {
  const asked: [string, unknown][] = []
  const ask = async (question: { subject: string; owner: string }, request: unknown) => {
    asked.push([question.subject, request])
    const reply = Object.hasOwn(replies, question.subject) ? replies[question.subject] : undefined
    if (!reply) throw new Unavailable(`${question.owner} is not there`)
    return reply(request as never)
  }
  return { ask: ask as Ask, asked }
}

export const okay = (value: unknown) => () => ({ ok: value })
export const refusing = (code: RefusalCode) => () => ({ refused: code })

export const webhookSecret = 'identity-webhook-secret'

const nowhere = '127.0.0.1:9'

export const settings = {
  NATS_URL: `nats://${nowhere}`,
  NATS_PASSWORD: 'none',
  DEPLOYMENT: 'local',
  CREDIT_LINE_ADDRESS: `0x${'c1'.repeat(20)}`,
  DATABASE_URL: `postgres://${nowhere}/none`,
  PUBLIC_URL: 'http://127.0.0.1:3000',
  SUPPORT_CONTACT: 'help@example.org',
  PAYMENTS_CALLBACK_TOKENS_ID: 'token-id,token-id-next',
  PAYMENTS_CALLBACK_TOKENS_MY: 'token-my',
  IDENTITY_WEBHOOK_SECRETS: webhookSecret,
  IDENTITY_API_URL: `http://${nowhere}`,
  IDENTITY_APP_TOKEN: 'app-token',
  IDENTITY_SECRET_KEY: 'secret-key',
  CORS_ORIGINS: 'https://app.example',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '1000',
  RATE_LIMIT_SIGNED_PER_MINUTE: '1000',
}
export const config: Config = readConfig('gateway', fields, settings)

export function usersInMemory() {
  const rows = new Map<string, User>()
  const known = {
    state: null,
    decidedAt: null,
    flagFailedAt: null,
    linkedAt: null,
    progress: null,
    progressedAt: null,
  }
  const insert = async (wallet: string) => {
    if (!rows.has(wallet)) rows.set(wallet, { country: null, createdAt: new Date(nowMs), known })
  }
  return {
    rows,
    insert,
    find: async (wallet: string) => rows.get(wallet),
    setCountry: async (wallet: string, country: string) => {
      await insert(wallet)
      rows.set(wallet, { ...rows.get(wallet)!, country })
    },
  }
}

/** Returns news that instances may share. */
export function newsInMemory(): News {
  const listeners: ((wallet: string) => void)[] = []
  return {
    tell: (wallet) => {
      for (const heard of listeners) heard(wallet)
    },
    listen: (heard) => void listeners.push(heard),
  }
}

/** Returns a stream that keeps one message per subject, as WEBHOOKS does. */
export function streamInMemory() {
  const stored = new Map<string, unknown>()
  const publish = async (message: { subject: string; payload: unknown }): Promise<Published> => {
    if (stored.has(message.subject)) return 'duplicate'
    stored.set(message.subject, message.payload)
    return 'stored'
  }
  return { stored, publish }
}

export type Fixture = {
  app: App
  call: (method: string, path: string, init?: Call) => Promise<Response>
  ops: (path: string) => Promise<Response>
  asked: [string, unknown][]
  stored: Map<string, unknown>
  users: ReturnType<typeof usersInMemory>
}
export type Call = {
  body?: unknown
  raw?: BodyInit
  headers?: Record<string, string>
  from?: string
}

export function contextOf(over: Partial<Context> = {}): Context {
  const { clock = () => nowMs, config: configured = config } = over
  const log = openLog('suite', 'silent')
  const context = assemble(configured, {
    database: openDatabase({ url: config.databaseUrl, name: 'none', log, onFatal: () => {} }),
    ask: askOf({}).ask,
    publish: streamInMemory().publish,
    news: newsInMemory(),
    provider: chooseIdentityProvider(configured, clock),
    copies: { count: () => 1 },
    health: {
      readiness: async () => ({ missing: [], down: [] }),
      collectMetrics: async () => [],
      ownMetrics: async () => '',
    },
    leaving: new AbortController().signal,
    log,
    clock,
    poke: () => {},
  })
  return {
    ...context,
    users: usersInMemory(),
    autoRepayments: {
      page: async () => ({ items: [], inFlight: [] }),
      item: async () => null,
    },
    ownPerson: async () => ({ rows: [], next: null }),
    verification: {
      standing: async () => ({ isVerified: false, linksToday: 0 }),
      recordLink: async () => {},
    },
    orderRefill: async () => {},
    ...over,
  }
}

export async function fixtureOf(replies: Replies = {}, over: Partial<Context> = {}): Promise<Fixture> {
  const { ask, asked } = askOf(replies)
  const { stored, publish } = streamInMemory()
  const users = usersInMemory()
  const context = contextOf({ ask, publish, users, ...over })
  const operators = openOperatorListener(context)
  const app = openApp(context)
  const call = (method: string, path: string, init: Call = {}) =>
    app(requestOf(method, path, init), init.from ?? '203.0.113.7')
  const ops = (path: string) => operators(requestOf('GET', path, {}), '127.0.0.1')
  return { app, call, ops, asked, stored, users }
}

function requestOf(method: string, path: string, init: Call): Request {
  const body = init.raw ?? (init.body === undefined ? undefined : JSON.stringify(init.body))
  const json: Record<string, string> = init.body === undefined ? {} : { 'content-type': 'application/json' }
  return new Request(`http://localhost${path}`, {
    method,
    headers: { ...json, ...init.headers },
    ...(body === undefined ? {} : { body }),
  })
}

export const errorOf = async (response: Response) => ((await response.json()) as { error?: string }).error
