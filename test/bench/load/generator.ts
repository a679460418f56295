import { parseArgs } from 'node:util'
import { quantile } from '../quantile'

/**
 * A process that asks over a fixed number of connections, each as fast as it is answered, and prints
 * what it saw as JSON. `{wallet}` in the URL becomes an address nobody has asked for before.
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

async function generate(url: string, connections: number, seconds: number): Promise<Seen> {
  const beganAt = performance.now() + warmUpMs
  const endsAt = beganAt + seconds * 1_000
  const tookMs: number[] = []
  let errors = 0
  let withoutHistory = 0
  const ask = async () => {
    while (performance.now() < endsAt) {
      const askedAt = performance.now()
      const text = await answerOf(url.replace('{wallet}', freshWallet()))
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

async function answerOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) })
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
  const { values } = parseArgs({ options: { url: text, connections: text, seconds: text } })
  const seen = await generate(values.url, Number(values.connections), Number(values.seconds))
  console.log(JSON.stringify(seen))
}
