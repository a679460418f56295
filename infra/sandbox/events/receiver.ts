import { createHmac, timingSafeEqual } from 'node:crypto'
import { pause } from '#platform/deadline'
import { jsonObject } from '#platform/schema'
import { type Control, Refusal } from '../controls/control'
import type { JsonObject } from '../json'
import type { Call, SandboxRoute } from '../route'

// The server of an integrator that receives our events. It does what the guide asks of one.

/** Event as it arrived, with the status of the answer. */
type Received = {
  readonly id: string
  readonly at: string
  readonly status: number
  /** True if an event with this id was taken before. */
  readonly repeat: boolean
  readonly event: JsonObject | string
}

/** Answer to the next calls instead of 204. */
type Answer = { readonly status: number; readonly delayMs: number; readonly location: string | null; times: number }

export type Receiver = {
  readonly secrets: readonly string[]
  readonly received: Received[]
  answer: Answer | undefined
}

export const openReceiver = (secrets: readonly string[]): Receiver => ({ secrets, received: [], answer: undefined })

/** Events that are kept; the oldest are dropped. */
const keptMax = 1_000
/** Age of a call beyond which it may be a replay by somebody who overheard it. */
const ageMaxSeconds = 300

export const eventRoutes = (receiver: Receiver): SandboxRoute[] => [
  { method: 'POST', path: '/events', run: (call) => receive(receiver, call) },
]

async function receive(receiver: Receiver, call: Call): Promise<Response> {
  const body = await call.text()
  const id = call.headers.get('webhook-id') ?? ''
  const fault = faultOf(receiver.secrets, call.headers, body)
  const answer = fault ? undefined : takeAnswer(receiver)
  const status = fault ? 401 : (answer?.status ?? 204)
  if (answer) await pause(answer.delayMs)
  const { received } = receiver
  const repeat = received.some((one) => one.id === id && one.status < 300)
  received.push({ id, at: new Date().toISOString(), status, repeat, event: jsonObject(body) ?? body })
  if (received.length > keptMax) received.shift()
  if (fault) return Response.json({ error: fault }, { status })
  const location = answer?.location
  return new Response(null, { status, ...(location ? { headers: { location } } : {}) })
}

function faultOf(secrets: readonly string[], headers: Headers, body: string): string | undefined {
  const [id, at] = [headers.get('webhook-id'), headers.get('webhook-timestamp')]
  if (!id || !at) return 'webhook-id or webhook-timestamp is missing'
  const ageSeconds = Math.abs(Date.now() / 1_000 - Number(at))
  if (!(ageSeconds <= ageMaxSeconds)) return 'webhook-timestamp is too old or too new'
  const given = (headers.get('webhook-signature') ?? '').split(' ').map((one) => Buffer.from(one))
  const right = secrets.map((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`)
  })
  const isRight = right.some((one) => given.some((other) => one.length === other.length && timingSafeEqual(one, other)))
  return isRight ? undefined : 'webhook-signature is by none of EVENTS_SECRETS'
}

function takeAnswer(receiver: Receiver): Answer | undefined {
  const { answer } = receiver
  if (!answer) return undefined
  answer.times -= 1
  if (answer.times <= 0) receiver.answer = undefined
  return answer
}

export const eventControls = (receiver: Receiver): Control[] => [
  { method: 'GET', path: '/control/events', run: () => ({ received: receiver.received }) },
  {
    method: 'POST',
    path: '/control/events',
    run: (_, body) => {
      receiver.answer = answerIn(body)
      return { answer: receiver.answer }
    },
  },
  {
    method: 'DELETE',
    path: '/control/events',
    run: () => {
      receiver.answer = undefined
      receiver.received.length = 0
    },
  },
]

function answerIn({ status = 204, delayMs = 0, location = null, times = 1 }: JsonObject): Answer {
  const isWhole = (value: unknown, least: number, most: number): value is number =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most
  if (!isWhole(status, 200, 599)) throw new Refusal(400, 'status must be from 200 to 599')
  if (!isWhole(delayMs, 0, 600_000)) throw new Refusal(400, 'delayMs must be from 0 to 600000')
  if (!isWhole(times, 1, 1_000_000)) throw new Refusal(400, 'times must be from 1 to 1000000')
  if (location !== null && typeof location !== 'string') throw new Refusal(400, 'location must be a string')
  return { status, delayMs, location, times }
}
