import pino from 'pino'
import { type Ask, Unavailable } from '#shared/bus/ask'
import type { Published } from '#shared/bus/publish'
import type { RefusalCode } from '#shared/refusals'
import { type App, openApp } from '../app.ts'
import { sumsub } from '../identity/providers/sumsub/client.ts'
import type { Parts, Settings } from '../parts.ts'
import type { User } from '../users/user.store.ts'
import { nowMs } from './wallets.ts'

/** What the other services would say, by subject; a subject that is not here has nobody. */
export type Replies = Record<string, (request: never) => unknown>

/** Asks the given functions; remembers what was asked. */
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

export const settings: Settings = {
  publicUrl: 'http://127.0.0.1:3000',
  callbackTokens: { ID: ['token-id', 'token-id-next'], MY: ['token-my'] },
  corsOrigins: ['https://app.example'],
  trustedProxyHops: 0,
  publicPerMinute: 1_000,
  signedPerMinute: 1_000,
}

export const webhookSecret = 'identity-webhook-secret'

/** Users in memory, for suites that are about HTTP and not about rows. */
export function usersInMemory() {
  const rows = new Map<string, User>()
  const arrive = async (wallet: string) => {
    if (!rows.has(wallet)) rows.set(wallet, { country: null, createdAt: new Date(nowMs) })
  }
  return {
    rows,
    arrive,
    find: async (wallet: string) => rows.get(wallet),
    settle: async (wallet: string, country: string) => {
      await arrive(wallet)
      rows.set(wallet, { ...rows.get(wallet)!, country })
    },
  }
}

/** A stream that keeps one message per subject, as WEBHOOKS does. */
export function streamInMemory() {
  const stored = new Map<string, unknown>()
  const publish = async (message: { subject: string; payload: unknown }): Promise<Published> => {
    if (stored.has(message.subject)) return 'duplicate'
    stored.set(message.subject, message.payload)
    return 'stored'
  }
  return { stored, publish }
}

export type Rig = {
  app: App
  call: (method: string, path: string, init?: Call) => Promise<Response>
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

/** The whole app over collaborators at its edges: the bus, the rows, the clock. */
export async function rigOf(replies: Replies = {}, over: Partial<Parts> = {}): Promise<Rig> {
  const { ask, asked } = askOf(replies)
  const { stored, publish } = streamInMemory()
  const users = usersInMemory()
  const clock = over.clock ?? (() => nowMs)
  const provider = sumsub({
    apiUrl: 'http://127.0.0.1:9',
    appToken: 'app-token',
    secretKey: 'secret-key',
    webhookSecrets: [webhookSecret],
    level: 'basic-kyc-level',
    clock,
  })
  const app = await openApp({
    ask,
    publish,
    users,
    identity: { provider, isVerified: async () => false, noteLink: async () => {} },
    readiness: async () => [],
    gatherStats: async () => [],
    figures: async () => ({}),
    clock,
    log: pino({ level: 'silent' }),
    settings,
    ...over,
  })
  const call = (method: string, path: string, init: Call = {}) =>
    app(requestOf(method, path, init), init.from ?? '203.0.113.7')
  return { app, call, asked, stored, users }
}

function requestOf(method: string, path: string, init: Call): Request {
  const body = init.raw ?? (init.body === undefined ? undefined : JSON.stringify(init.body))
  const json: Record<string, string> =
    init.body === undefined ? {} : { 'content-type': 'application/json' }
  return new Request(`http://localhost${path}`, {
    method,
    headers: { ...json, ...init.headers },
    ...(body === undefined ? {} : { body }),
  })
}

export const errorOf = async (response: Response) =>
  ((await response.json()) as { error?: string }).error
