import { parseArgs } from 'node:util'
import { quantile } from '../quantile'

/**
 * A process that asks over a fixed number of connections, each as fast as it is answered, and prints
 * what it saw as JSON. `{wallet}` in the URL becomes an address nobody has asked for before; with a
 * `body`, which is JSON, each is a POST.
 */
export type Seen = {
  requests: number
  perSecond: number
  /** Answers that were not 200, and requests that were not answered. */
  errors: number
  /** Answers without a history: the reader did not answer the gateway in time. */
  withoutHistory: number
  p50Ms: number
  p99Ms: number
}

const deadlineMs = 5_000
const warmUpMs = 1_000

type Load = { url: string; body: string; connections: number; seconds: number }

async function generate({ url, body, connections, seconds }: Load): Promise<Seen> {
  const beganAt = performance.now() + warmUpMs
  const endsAt = beganAt + seconds * 1_000
  const tookMs: number[] = []
  let errors = 0
  let withoutHistory = 0
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
  const init = body === '' ? {} : post
  const ask = async () => {
    while (performance.now() < endsAt) {
      const askedAt = performance.now()
      const text = await answerOf(url.replace('{wallet}', freshWallet()), init)
      if (askedAt < beganAt) continue
      tookMs.push(performance.now() - askedAt)
      if (text === undefined) errors++
      else if (text.includes('"indexer":"unavailable"')) withoutHistory++
    }
  }
  await Promise.all(Array.from({ length: connections }, ask))
  const perSecond = (1_000 * tookMs.length) / (performance.now() - beganAt)
  const [p50Ms, p99Ms] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)]
  return { requests: tookMs.length, perSecond, errors, withoutHistory, p50Ms, p99Ms }
}

async function answerOf(url: string, init: RequestInit): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(deadlineMs) })
    const text = await answer.text()
    return answer.status === 200 ? text : undefined
  } catch {
    return undefined
  }
}

const freshWallet = () =>
  `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')}`

if (import.meta.main) {
  const text = { type: 'string', default: '' } as const
  const options = { url: text, body: text, connections: text, seconds: text }
  const { url, body, connections, seconds } = parseArgs({ options }).values
  const load = { url, body, connections: Number(connections), seconds: Number(seconds) }
  const seen = await generate(load)
  console.log(JSON.stringify(seen))
}
