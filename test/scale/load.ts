import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Outside } from '#infra/demo/outside'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { cashoutBody } from '../support/requests'

export type Seen = {
  readonly path: string
  /** 0 without a response. */
  readonly status: number
  readonly tookMs: number
  readonly said: string
}
export type Promised = {
  readonly kind: 'topup' | 'cashout' | 'send'
  readonly person: Person
  readonly id: string
  readonly ends: string
}
type World = {
  readonly stack: Stack
  readonly outside: Outside
  readonly people: readonly Person[]
}

export type Load = {
  readonly seen: readonly Seen[]
  readonly promised: readonly Promised[]
  readonly stop: () => Promise<void>
}

/** One unit in this many moves money; the others read. */
const moneyEvery = 8

/** Open loop at a fixed rate, without retries, so every failure counts. */
export function startLoad(world: World, everyMs: number): Load {
  const seen: Seen[] = []
  const promised: Promised[] = []
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const noting = noted(seen)
  const begin = (index: number) => {
    const person = world.people[index % world.people.length]!
    const act = index % moneyEvery === 0 ? moving[(index / moneyEvery) % moving.length]! : reading
    const work = act({ ...world, person, noting })
      .then((one) => {
        if (one) promised.push({ person, ...one })
      })
      .catch((error) => {
        seen.push({ path: 'the load itself', status: 0, tookMs: 0, said: String(error) })
      })
      .finally(() => running.delete(work))
    running.add(work)
  }
  const run = async () => {
    const startedAt = performance.now()
    for (let index = 0; !stopping.signal.aborted; index++) {
      begin(index)
      const nextAt = startedAt + (index + 1) * everyMs
      await pause(Math.max(0, nextAt - performance.now()), stopping.signal)
    }
  }
  const ended = run()
  return {
    seen,
    promised,
    stop: async () => {
      stopping.abort()
      await ended
      await Promise.all(running)
    },
  }
}

type Noting = (path: string, ask: () => Promise<Reply>) => Promise<Reply | undefined>

/** Returns undefined unless it is a success; that ends the unit. */
const noted =
  (seen: Seen[]): Noting =>
  async (path, ask) => {
    const startedAt = performance.now()
    const reply = await ask().catch((error: Error) => error)
    const tookMs = Math.round(performance.now() - startedAt)
    if (reply instanceof Error) {
      seen.push({ path, status: 0, tookMs, said: reply.message })
      return undefined
    }
    const said = reply.status === 200 ? '' : JSON.stringify(reply.body)
    seen.push({ path, status: reply.status, tookMs, said })
    return reply.status === 200 ? reply : undefined
  }

type Work = World & { readonly person: Person; readonly noting: Noting }
type Act = (work: Work) => Promise<Omit<Promised, 'person'> | undefined>

const quoteOf = ({ person, noting }: Work) =>
  noting('/quote', () => person.post('/quote', { pair: 'USD/IDR' }))

const reading: Act = async (work) => {
  const { person, noting } = work
  await Promise.all([
    quoteOf(work),
    noting('/me', () => person.get('/me')),
    noting('/me/activity', () => person.get('/me/activity')),
    noting('/verify', () => recordOf(person)),
  ])
  return undefined
}

/** No cache holds a new wallet. Fails without history. */
async function recordOf(person: Person): Promise<Reply> {
  const reply = await person.get(`/verify/${privateKeyToAddress(generatePrivateKey())}`)
  return reply.body.indexer === 'ok' ? reply : { ...reply, status: 503 }
}

const topup: Act = async (work) => {
  const { person, noting, outside } = work
  const quote = await quoteOf(work)
  if (!quote) return undefined
  const body = { amount: '50000', method: 'qr', quoteId: quote.body.id }
  const opened = await noting('/topups', () => person.post('/topups', body))
  if (!opened) return undefined
  await outside.pay(opened.body.paymentId, 'QRIS')
  return { kind: 'topup', id: opened.body.paymentId, ends: 'credited' }
}

const cashout: Act = async ({ stack, person, noting }) => {
  const body = await cashoutBody(stack, person, { ausdMicro: 2_000_000n })
  if (!body.quoteId) return undefined
  const accepted = await noting('/cashouts', () => person.post('/cashouts', body))
  return accepted && { kind: 'cashout', id: accepted.body.payoutId, ends: 'paid' }
}

const send: Act = async ({ person, noting }) => {
  const to = privateKeyToAddress(generatePrivateKey())
  const authorization = await person.sign({ to, valueMicro: 100_000n })
  const accepted = await noting('/sends', () => person.post('/sends', { authorization }))
  return accepted && { kind: 'send', id: accepted.body.sendId, ends: 'sent' }
}

const moving: readonly Act[] = [topup, cashout, send]

/** Returns ms until every item has its final status. */
export async function kept(promised: readonly Promised[], deadlineMs: number): Promise<number> {
  const startedAt = performance.now()
  const open = new Set(promised)
  const look = async () => {
    for (const person of new Set([...open].map((one) => one.person))) {
      const states = await statesOf(person)
      for (const one of open)
        if (one.person === person && states.get(one.id) === one.ends) open.delete(one)
    }
    return open.size === 0
  }
  await waitUntil('every item to complete', look, deadlineMs, 250).catch((error: Error) => {
    const left = [...open].map(({ kind, id }) => `${kind} ${id}`)
    throw new Error(`${error.message}; open: ${left.join(', ')}`)
  })
  return Math.round(performance.now() - startedAt)
}

async function statesOf(person: Person): Promise<Map<string, string>> {
  const states = new Map<string, string>()
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: Reply = await person.get(`/me/activity?limit=100${cursor && `&cursor=${cursor}`}`)
    for (const { id, status } of page.body.items ?? []) states.set(id, status)
    cursor = page.body.nextCursor ?? undefined
  }
  return states
}
