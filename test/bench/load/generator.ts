import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { quantile } from '../quantile'
import type { Load } from './load'

/**
 * Generates load and prints the results as JSON. `{wallet}` in the URL becomes a new address, `{id}` in the body a new
 * id. With a `body` each request is a POST.
 */
export type LoadResult = {
  requests: number
  perSecond: number
  /** Number of responses other than 200, and of missing ones. */
  errors: number
  /** Number of records without history, because the reader did not respond to the gateway in time. */
  withoutHistory: number
  p50Ms: number
  p99Ms: number
}

const deadlineMs = 5_000
const warmUpMs = 1_000

async function generate(load: Load): Promise<LoadResult> {
  const beganAt = performance.now() + warmUpMs
  const endsAt = beganAt + load.seconds * 1_000
  const tookMs: number[] = []
  let errors = 0
  let withoutHistory = 0
  const nextRequest = requestsOf(load)
  const ask = async () => {
    while (performance.now() < endsAt) {
      const next = nextRequest()
      if (!next) return
      const askedAt = performance.now()
      const text = await answerOf(...next)
      if (askedAt < beganAt) continue
      tookMs.push(performance.now() - askedAt)
      if (text === undefined) errors++
      else if (text.includes('"indexer":"unavailable"')) withoutHistory++
    }
  }
  await Promise.all(Array.from({ length: load.connections }, ask))
  const perSecond = (1_000 * tookMs.length) / (performance.now() - beganAt)
  const [p50Ms, p99Ms] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)]
  return { requests: tookMs.length, perSecond, errors, withoutHistory, p50Ms, p99Ms }
}

/** Returns the next request, or undefined once single-use sessions run out. */
function requestsOf({ url, body = '', headers = {}, sessionsFile, eachOnce }: Load) {
  const sessions = sessionsFile ? (JSON.parse(readFileSync(sessionsFile, 'utf8')) as string[]) : undefined
  let made = 0
  return (): [string, RequestInit] | undefined => {
    if (eachOnce && made === sessions?.length) return undefined
    const session = sessions?.[made++ % sessions.length]
    const own: Record<string, string> = { ...headers }
    if (session) own.Authorization = session
    if (body !== '') own['Content-Type'] = 'application/json'
    const post = { method: 'POST', body: body.replace('{id}', () => randomUUID()) }
    return [url.replace('{wallet}', freshWallet), { headers: own, ...(body === '' ? {} : post) }]
  }
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

const freshWallet = () => `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')}`

if (import.meta.main) {
  const { values } = parseArgs({ options: { load: { type: 'string', default: '' } } })
  console.log(JSON.stringify(await generate(JSON.parse(values.load) as Load)))
}
