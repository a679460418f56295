import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Person, Reply } from '#infra/demo/person'
import { pause } from '#platform/deadline'

export type CallResult = {
  readonly path: string
  /** Status of the response, or 0 without one. */
  readonly status: number
  readonly tookMs: number
  readonly said: string
}

/** Sends a request once. Throws unless the response is a 200. */
export type SendOnce = (path: string, body?: unknown) => Promise<Reply['body']>

export type LoadTerms = {
  readonly people: readonly Person[]
  /** Moves money of a user; `turn` counts these units of work. */
  readonly move: (person: Person, turn: number, send: SendOnce) => Promise<void>
}

export type Load = {
  readonly seen: readonly CallResult[]
  readonly stop: () => Promise<void>
}

/** One unit in this many moves money; the others read. */
const moneyEvery = 8

/** Starts units of work at fixed intervals (an open loop), without retries. */
export function startLoad({ people, move }: LoadTerms, everyMs: number): Load {
  const seen: CallResult[] = []
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const act = async (index: number) => {
    const person = people[index % people.length]!
    const send: SendOnce = async (path, body) => {
      const call = () => (body === undefined ? person.get(path) : person.post(path, body))
      return (await noted(seen, path, call)).body
    }
    if (index % moneyEvery > 0) await read(person, seen)
    else await move(person, index / moneyEvery, send)
  }
  const begin = (index: number) => {
    const work = act(index)
      .catch((error) => {
        if (error instanceof Noted) return
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
    stop: async () => {
      stopping.abort()
      await ended
      await Promise.all(running)
    },
  }
}

class Noted extends Error {}

/** Records a response. Throws `Noted` unless it is a success. */
const noted = async (seen: CallResult[], path: string, ask: () => Promise<Reply>): Promise<Reply> => {
  const startedAt = performance.now()
  const reply = await ask().catch((error: Error) => error)
  const tookMs = Math.round(performance.now() - startedAt)
  if (reply instanceof Error) {
    seen.push({ path, status: 0, tookMs, said: reply.message })
    throw new Noted()
  }
  const said = reply.status === 200 ? '' : JSON.stringify(reply.body)
  seen.push({ path, status: reply.status, tookMs, said })
  if (reply.status !== 200) throw new Noted()
  return reply
}

async function read(person: Person, seen: CallResult[]): Promise<void> {
  const wallet = privateKeyToAddress(generatePrivateKey()) // No cache contains this wallet.
  await Promise.allSettled([
    noted(seen, '/quote', () => person.post('/quote', { pair: 'USD/IDR' })),
    noted(seen, '/me', () => person.get('/me')),
    noted(seen, '/me/activity', () => person.get('/me/activity')),
    noted(seen, '/verify', async () => {
      const reply = await person.get(`/verify/${wallet}`)
      return reply.body.indexer === 'ok' ? reply : { ...reply, status: 503 }
    }),
  ])
}
