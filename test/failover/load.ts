import type { Person, Reply } from '#infra/demo/person'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { entryNow, insist, refusedAccount } from '../support/requests'
import { play } from '../world/drivers/play'
import type { World } from '../world/drivers/stack'
import { type Fate, fateOf, plain } from '../world/fates'
import { cashout, type Plan, send, topup } from '../world/people'
import { openRecord, type PaymentDeed, type Record as WorldRecord } from '../world/record'

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

/** Plans and fates during a failover, in turn: mostly top-ups, because their credits measure the recovery. */
const moving: readonly (readonly [Plan, Fate])[] = [
  [topup(), plain],
  [topup(), plain],
  [cashout(), plain],
  [topup(), plain],
  [topup({ channel: 'CARDS' }), fateOf('refunded')],
  [topup(), plain],
  [cashout({ accountNumber: refusedAccount }), plain],
  [send(100_000n), plain],
]
const has = { ausdMicro: 1_000_000_000n }

/** A wait, from the first attempt to the 200. */
type Wait = { question: string; askedAt: number; waitedMs: number; refused: number }

export type Load = AsyncDisposable & {
  /** Errors of payers that stopped trying. */
  readonly failures: readonly string[]
  readonly people: readonly Person[]
  readonly record: WorldRecord
  /** Returns the ids of the accepted requests that move money. */
  readonly accepted: () => readonly string[]
  readonly since: (startedAt: number) => string
  /** Returns the longest wait in ms, including pending requests. */
  readonly longestMs: (startedAt: number) => number
  /** Returns the time in ms until another payment is credited. */
  readonly nextCredited: (withinMs?: number) => Promise<number>
}

/** Starts a load of new users, or of those of an earlier load. */
export async function startLoad(world: World, earlier?: Pick<Load, 'people' | 'record'>): Promise<Load> {
  const record = earlier?.record ?? openRecord()
  const join = async () => {
    const person = await world.newPerson(has)
    await world.outside.identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified, 60_000)
    return person
  }
  const people = earlier?.people ?? (await Promise.all(Array.from({ length: peopleMax }, join)))
  const waits: Wait[] = []
  const open = new Set<Wait>()
  const checkouts: { answeredAt: number; waitedMs: number }[] = []
  const failures: string[] = []
  /** Top-ups by QR that were paid, oldest first. */
  const paid: { person: Person; id: string }[] = []
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
  const pay = async (person: Person, turn: number) => {
    const [plan, fate] = moving[turn % moving.length]!
    const patience = { deadlineMs: patienceMs, everyMs: askAgainMs }
    const ask = async (path: string, body?: unknown) => {
      const askedAt = Date.now()
      const ok = await insist(person, path, body, patience)
      if (path === '/topups') checkouts.push({ answeredAt: Date.now(), waitedMs: Date.now() - askedAt })
      return { ok }
    }
    const before = record.deeds.length
    await play(world.sceneOf(person, record, { ask }), plan, fate)
    const deed = record.deeds.slice(before).find((one): one is PaymentDeed => one.wallet === person.wallet && isQr(one))
    if (deed?.isPlayed) paid.push({ person, id: deed.answer!.id })
  }
  const every = async (ms: number, work: (person: Person, turn: number) => Promise<void>) => {
    for (let turn = 0; !over; turn += 1) {
      const startedAt = Date.now()
      await work(people[turn % people.length]!, turn)
      await pause(Math.max(0, startedAt + ms - Date.now()))
    }
  }
  const running = [
    ...Object.keys(questions).map((question) => every(askEveryMs, (one) => ask(question, one))),
    every(payEveryMs, async (person, turn) => {
      if (payers.size >= payersMax) return
      const payer = pay(person, turn)
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
    people,
    record,
    accepted: () => record.deeds.flatMap(({ answer }) => (answer ? [answer.id] : [])),
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
      const { person, id } = await waitUntil('the next payment', () => paid[before], withinMs)
      const isCredited = () => entryNow(person, id, 'credited').then(Boolean, () => false)
      await waitUntil('its credit', isCredited, withinMs, 100)
      return Date.now() - startedAt
    },
    [Symbol.asyncDispose]: async () => {
      over = true
      await Promise.all(running)
      await Promise.all(payers)
    },
  }
}

/** Returns true for a top-up that is credited at once. */
const isQr = ({ plan }: WorldRecord['deeds'][number]): boolean => plan.kind === 'topup' && plan.channel === 'QRIS'
