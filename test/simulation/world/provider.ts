import { type Book, openBook } from '#infra/sandbox/book'
import type { Context, Draft } from '#infra/sandbox/context'
import { type Faults, noFaults } from '#infra/sandbox/faults'
import type { Ids } from '#infra/sandbox/ids'
import type { JsonObject } from '#infra/sandbox/json'
import { openProvider, type ProviderRequest } from '#infra/sandbox/provider/core'
import type { Random } from '#infra/sandbox/random'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import type { Exchange, Exchanged } from '#shared/provider/client'
import { keptDelivery, readerOf } from '#shared/provider/delivery'
import { ProviderBusy } from '#shared/provider/problem'
import { paymentIdIn } from '../../../services/payments/payment'
import { chance, oneOf } from './choices'
import { callingProvider } from './faults'
import type { Process, World } from './world'

// The provider is that of the sandbox, in the world's time. The production clients call it, with the faults of the way
// between them.

export const secretKeys = { ID: 'key-id', MY: 'key-my' } as const
export const baseUrl = 'https://provider'

export type Provider = {
  readonly book: Book
  /** Executes one of the sandbox's controls. */
  readonly control: (path: string, body?: JsonObject) => Record<string, unknown>
  readonly exchangeOf: (process: Process) => Exchange
  /** References of payouts whose orders arrive late more often. */
  readonly late: Set<string>
  /** Payments that were once read without their times, so that services know only when they saw them first. */
  readonly untimed: Set<string>
}

type Publish = (message: { id: string; subject: string; payload: unknown }) => void

/** Wrong answers about a payment, which are over after a moment. */
const moody: Faults = {
  ...noFaults,
  api: {
    ...noFaults.api,
    hidePayments: 0.03,
    failPayments: 0.03,
    hideRefunds: 0.03,
    hideDisputes: 0.03,
    oddTimes: 0.02,
    namelessRefunds: 0,
    otherCheckout: 0.01,
    errorRate: 0.01,
    errorAfterAccept: 0.01,
    forbidSender: 0.005,
    forbidList: 0.02,
    listDelayMs: 4_000,
  },
}

export function openProviderIn(world: World, publish: Publish): Provider {
  const { choices } = world
  const context: Context = {
    config: {
      secretKeys,
      feeBps: 0,
      floatIdrMinor: 10n ** 15n,
      sessionLifeMinMs: 0,
      // The bank takes its time.
      get payoutSettleMs() {
        return 500 + oneOf(choices, 8_000)
      },
    },
    publicUrl: baseUrl,
    book: openBook(),
    clock: () => Math.floor(world.now),
    chance: randomIn(world),
    ids: countedIds(),
    timers: { at: (whenMs, run) => void world.after(whenMs - world.now, undefined, run), close: () => {} },
    webhooks: { send: openCarrier(world, publish) },
    get faults() {
      return world.isCalm ? noFaults : moody
    },
  }
  const { book } = context
  const core = openProvider(context)
  const late = new Set<string>()
  const untimed = new Set<string>()
  const answer = (request: ProviderRequest): Exchanged => {
    const answered = core.answer(request)
    if (answered === 'silence') throw new Error('no response in time')
    const { status, headers, body } = answered
    const id = idIn(request.path)
    if (noteWrongAnswer(world, book, id, answered)) untimed.add(id)
    return { status, headers: new Headers(headers), body: bytesOf(JSON.stringify(body)) }
  }
  /** Time until which a call stays without a response, although its client repeats it. */
  const mute = new Map<string, number>()
  const exchangeOf = (process: Process): Exchange => {
    return async (url, { method, headers, body = '' }) => {
      const { pathname: path, searchParams: query } = new URL(url)
      const what = `${method} ${path}`
      const request = { method, path, query, headers: new Headers(headers), body }
      const call = `${process.name} ${what}`
      const isMute = (mute.get(call) ?? 0) > world.now && !world.isCalm
      const isLate = method === 'POST' && !world.isCalm && chance(choices, late.has(keyOf(request)) ? 250 : 30)
      if (isLate) {
        if (path === '/v2/payouts') world.saw('a payout order arrived after its sender had timed out')
        world.tell(`${process.name}: ${what}: on its way, no answer`)
        world.after(1_000 + oneOf(choices, 50_000), undefined, () => void answer(request))
      }
      try {
        return await world.leave(process, callingProvider, what, () => {
          if (isMute || isLate) throw new Error('no response in time')
          return answer(request)
        })
      } catch (error) {
        // Who is told to come back later has ordered nothing, so a late order has no such answer.
        if (error instanceof ProviderBusy && !isLate) return { status: 429, headers: new Headers(), body: null }
        if (method === 'GET' && !isMute) mute.set(call, world.now + oneOf(choices, 6_000))
        throw error
      }
    }
  }
  return {
    book,
    control: (path, body) => core.control(path, body) as Record<string, unknown>,
    exchangeOf,
    late,
    untimed,
  }
}

const keyOf = ({ headers }: ProviderRequest): string => headers.get('idempotency-key') ?? ''

/** Returns a body in one piece. It is read without waiting for the event loop. */
const bytesOf = (text: string): Exchanged['body'] => [Buffer.from(text)] as unknown as Exchanged['body']

/** Returns the id of the payment that is read; empty for another call. */
const idIn = (path: string): string => /^\/v3\/payments\/([^/]+)$/.exec(path)?.[1] ?? ''

type Answered = { readonly status: number; readonly body: unknown }

/** Counts a wrong answer about a payment. Returns true if it lacks the payment's times. */
function noteWrongAnswer(world: World, book: Book, id: string, { status, body }: Answered): boolean {
  const payment = id ? book.get('payments', id) : undefined
  if (payment?.status !== 'SUCCEEDED') return false
  const said = body as { readonly status?: string; readonly created?: unknown }
  if (status === 404) world.saw('a payment was not found for a moment')
  if (said.status === 'FAILED') world.saw('a payment read as failed for a moment')
  const isUntimed = said.created === 0
  if (isUntimed) world.saw('a payment was read without its times')
  return isUntimed
}

/** Chance from the world's choices, of which 0 is the plainest. A calm world has no faults by chance. */
export function randomIn(world: World): Random {
  const { choices } = world
  return {
    hits: (probability) =>
      probability >= 1 || (probability > 0 && !world.isCalm && chance(choices, probability * 1_000)),
    belowMs: (limitMs) => oneOf(choices, limitMs),
    oneOf: (forms) => forms[oneOf(choices, forms.length)]!,
    shuffle: (items) => (items.length > 1 && oneOf(choices, 2) === 1 ? [...items].reverse() : [...items]),
    reseed: () => {},
  }
}

function countedIds(): Ids {
  let count = 0
  return {
    hex: (bytes) => {
      count += 1
      return count.toString(16).padStart(2 * bytes, '0')
    },
  }
}

/** Delivers webhooks, of which some are lost, doubled, or refused and sent again. */
function openCarrier(world: World, publish: Publish): (draft: Draft) => void {
  let count = 0
  const deliver = ({ account, body }: Draft, deliveryId: string, tries: number) => {
    const drawn = world.choices.draw()
    if (!world.isCalm && drawn > 65_000 && tries < 20) {
      world.tell(`webhook ${deliveryId} was not accepted and will be retried`)
      world.after(2_000 * (tries + 1), undefined, () => deliver({ account, body } as Draft, deliveryId, tries + 1))
      // Half of the failures lose only the response of a stored webhook.
      if (drawn % 2 === 0) return
    }
    const receivedAt = new Date(world.now).toISOString()
    const kept = keptDelivery(body)
    const payload = { account, deliveryId, receivedAt, body: kept }
    const reference = referenceIn(body)
    if (reference !== undefined) world.rows.told.add(reference)
    publish({ id: deliveryId, subject: paymentsWebhookSubject(account!, readerOf(kept), deliveryId), payload })
  }
  return (draft) => {
    world.tell(`the provider sends ${draft.event}`)
    const share = oneOf(world.choices, 100)
    if (share > 96 && !world.isCalm) {
      world.saw('a webhook was never delivered')
      return
    }
    const times = share > 88 ? 2 : 1
    for (let sent = 0; sent < times; sent++) {
      count += 1
      const deliveryId = `dlv-${count}`
      world.after(5 + oneOf(world.choices, 400), undefined, () => deliver(draft, deliveryId, 0))
    }
    if (times > 1) world.saw('a webhook was delivered twice')
  }
}

/** Returns our id of the payment or payout that a webhook is about. */
function referenceIn(body: string): string | undefined {
  const { data } = JSON.parse(body) as { data?: { reference_id?: string } }
  const reference = data?.reference_id
  return reference === undefined ? undefined : (paymentIdIn(reference) ?? reference)
}
