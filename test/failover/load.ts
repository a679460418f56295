import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { query } from '../support/database'
import { topUp } from '../support/flows'
import { verifiedUsers } from '../support/people'
import { insist } from '../support/requests'

/** Requests that an app makes, none of which publishes to JetStream. */
const questions: Readonly<Record<string, (person: Person) => Promise<Reply>>> = {
  '/me': (person) => person.get('/me'),
  '/me/activity': (person) => person.get('/me/activity'),
  '/verify': (person) => person.get(`/verify/${person.wallet}`),
  '/quote': (person) => person.post('/quote', { pair: 'USD/IDR' }),
}
const askEveryMs = 150
const askAgainMs = 50
const patienceMs = 45_000
/** Interval of payments in ms, which is independent of earlier responses. */
const payEveryMs = 500
const payersMax = 50
const peopleMax = 6

/** A wait, from the first attempt to the 200. */
type Wait = { question: string; askedAt: number; waitedMs: number; refused: number }

export type Load = AsyncDisposable & {
  /** Errors of payers that stopped trying. */
  readonly failures: readonly string[]
  /** Ids of accepted payments, oldest first. */
  readonly promised: readonly string[]
  readonly paid: readonly string[]
  readonly since: (startedAt: number) => string
  /** Returns the longest wait in ms, including pending requests. */
  readonly longestMs: (startedAt: number) => number
  /** Returns the time in ms until another payment is credited. */
  readonly nextCredited: (withinMs?: number) => Promise<number>
}

export async function startLoad(stack: Stack): Promise<Load> {
  const people = await verifiedUsers(stack, peopleMax)
  const waits: Wait[] = []
  const open = new Set<Wait>()
  const checkouts: { answeredAt: number; waitedMs: number }[] = []
  const failures: string[] = []
  const promised: string[] = []
  const paid: string[] = []
  let over = false

  const ask = async (question: string, person: Person) => {
    const wait = { question, askedAt: Date.now(), waitedMs: 0, refused: 0 }
    open.add(wait)
    for (;;) {
      const reply = await questions[question]!(person).catch(() => undefined)
      wait.waitedMs = Date.now() - wait.askedAt
      if (reply?.status === 200) break
      wait.refused += 1
      await pause(askAgainMs)
    }
    open.delete(wait)
    waits.push(wait)
  }
  const payers = new Set<Promise<void>>()
  const pay = async (person: Person) => {
    const { id } = await topUp(stack, person, {}, async (path, body) => {
      const askedAt = Date.now()
      const patience = { deadlineMs: patienceMs, everyMs: askAgainMs }
      const answer = await insist(person, path, body, patience)
      if (path !== '/topups') return answer
      checkouts.push({ answeredAt: Date.now(), waitedMs: Date.now() - askedAt })
      promised.push(answer.paymentId)
      return answer
    })
    paid.push(id)
  }
  const every = async (ms: number, work: (person: Person) => Promise<void>) => {
    for (let turn = 0; !over; turn += 1) {
      const startedAt = Date.now()
      await work(people[turn % people.length]!)
      await pause(Math.max(0, startedAt + ms - Date.now()))
    }
  }
  const running = [
    ...Object.keys(questions).map((question) => every(askEveryMs, (one) => ask(question, one))),
    every(payEveryMs, async (person) => {
      if (payers.size >= payersMax) return
      const payer = pay(person)
        .catch((error: Error) => void failures.push(error.message))
        .finally(() => payers.delete(payer))
      payers.add(payer)
    }),
  ]
  const seen = (startedAt: number) => {
    const now = Date.now()
    const pending = [...open].map((wait) => ({ ...wait, waitedMs: now - wait.askedAt }))
    return [...waits, ...pending].filter(({ askedAt, waitedMs }) => askedAt + waitedMs >= startedAt)
  }
  const longestMs = (startedAt: number) => Math.max(0, ...seen(startedAt).map(({ waitedMs }) => waitedMs))
  return {
    failures,
    promised,
    paid,
    longestMs,
    since: (startedAt) => {
      const asked = seen(startedAt)
      const longest = asked.toSorted((left, right) => right.waitedMs - left.waitedMs)[0]
      const refused = asked.reduce((sum, wait) => sum + wait.refused, 0)
      const opened = checkouts.filter(({ answeredAt }) => answeredAt >= startedAt)
      const checkoutMs = Math.max(0, ...opened.map(({ waitedMs }) => waitedMs))
      return [
        `${asked.length} requests, longest wait ${longest?.waitedMs ?? 0} ms`,
        `${refused} failed attempts`,
        `${opened.length} checkouts, longest wait ${checkoutMs} ms`,
      ].join(', ')
    },
    nextCredited: async (withinMs = 30_000) => {
      const [startedAt, before] = [Date.now(), paid.length]
      const next = await waitUntil('the next payment', () => paid[before], withinMs)
      await waitUntil('its credit', () => isCredited(stack, next), withinMs, 100)
      return Date.now() - startedAt
    },
    [Symbol.asyncDispose]: async () => {
      over = true
      await Promise.all(running)
      await Promise.all(payers)
    },
  }
}

const isCredited = async (stack: Stack, id: string) => (await statesOf(stack, [id])).get(id) === 'credited'

/** Returns the states of payments; lost ones are missing. */
export async function statesOf(stack: Stack, ids: readonly string[]): Promise<Map<string, string>> {
  const list = ids.map((id) => `'${id}'`).join(', ')
  const rows = await query<{ id: string; state: string }>(
    stack,
    `select id, state from payments.payments where id in (${list})`,
  )
  return new Map(rows.map(({ id, state }) => [id, state]))
}
