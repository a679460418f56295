import { moneyText } from '#shared/money/text'
import {
  blockedNeeds,
  comparedMaxMs,
  lagNeeds,
  listNeeds,
  outboxMaxMs,
  unpricedNeeds,
} from '#shared/standing/needs'
import { pausedText } from '#shared/standing/pauses'
import { counted } from '#shared/trace/words'
import type { DownCopy } from '../health/roster'
import type { Queue } from './live'
import type { Standing } from './standing'

/** What was read, or why it was not: what is unknown is not nothing. */
export type Read<T> = { readonly known: T } | { readonly unknown: string }

/** What a service says of itself; `copies` is null when nobody could be asked. */
export type Told = {
  readonly name: string
  readonly copies: number | null
  readonly figures: Readonly<Record<string, unknown>>
}

export type Sources = {
  readonly services: readonly Told[]
  readonly readiness: Read<{ missing: readonly string[]; down: readonly DownCopy[] }>
  readonly queues: Read<readonly Queue[]>
  /** What all processes measure, in Prometheus' text format. */
  readonly metrics: Read<string>
  readonly standing: Read<Standing>
  readonly nowMs: number
}

/** A line for a person, and for how long it has been so. */
export type Need = { readonly says: string; readonly ageMs?: number }
/** `unseen`: what was not judged, and why. */
export type Judged = { readonly needs: readonly Need[]; readonly unseen: readonly string[] }

/** As the alarms: after so long a reading of what covers our promises is no answer. */
const treasuryMaxMs = 60_000
const balanceMaxMs = 300_000

const writers = ['gateway', 'payments', 'payouts', 'chain-relayer']

/**
 * What needs a person, as `bun run ops status` says it. Not judged are the floors of treasury, rupiah and lanes:
 * the gateway does not know them. Pure.
 */
export function needsOf(sources: Sources): Judged {
  const parts = [
    standingNeeds(sources),
    presenceNeeds(sources),
    ...sources.services.filter(({ name }) => name !== 'books').map(figureNeeds),
    queueNeeds(sources.queues),
    stateNeeds(sources.metrics),
    booksNeeds(sources),
  ]
  return {
    needs: parts.flatMap(({ needs = [] }) => needs),
    unseen: parts.flatMap(({ unseen = [] }) => unseen),
  }
}

type Part = Partial<Judged>

function standingNeeds({ standing }: Sources): Part {
  if ('unknown' in standing)
    return {
      unseen: [`pauses, unexplained AUSD, the provider's lists: ${standing.unknown}`],
    }
  const { pauses, unexplained, lists } = standing.known
  const { count, ausdMicro, oldestMs } = unexplained
  return {
    needs: [
      ...pauses.map((one) => ({ says: pausedText(one) })),
      ...when(count > 0, {
        says: `nothing explains ${moneyText(ausdMicro, 'AUSD')} that came to the treasury (${counted(count, 'transfer')})`,
        ageMs: oldestMs,
      }),
      ...saying(listNeeds(lists)),
    ],
  }
}

const saying = (lines: readonly string[]): Need[] => lines.map((says) => ({ says }))

const when = (isSo: boolean, need: Need): Need[] => (isSo ? [need] : [])

/** Who does not answer. When the bus does not, nothing is known of the services: none of them is called silent. */
function presenceNeeds({ services, readiness, nowMs }: Sources): Part {
  const missing = 'known' in readiness ? readiness.known.missing : []
  const down = 'known' in readiness ? readiness.known.down : []
  const isAsked = services.some(({ copies }) => copies !== null)
  const silent = services.filter(({ name, copies }) => copies === 0 && name !== 'books')
  const hasOthers = (service: string) => !silent.some(({ name }) => name === service)
  return {
    needs: [
      ...when(missing.includes('postgres'), { says: 'postgres does not answer' }),
      ...when(!isAsked, { says: 'nats does not answer' }),
      ...silent.map(({ name }) => ({ says: `${name} does not answer` })),
      ...down
        .filter(({ service }) => isAsked && hasOthers(service))
        .map(({ service, state, since }) => ({
          says: `a copy of ${service} does not answer (${state})`,
          ageMs: nowMs - Date.parse(since),
        })),
    ],
    unseen:
      'unknown' in readiness ? [`postgres, single copies of services: ${readiness.unknown}`] : [],
  }
}

type Lane = { address: string; fault: string | null; balanceWei: string | null }
/** What services tell that needs a person, whichever of them tells it. */
type Figures = {
  inReview?: number
  frozenWallets?: number
  deadLetters?: number
  outboxWaiting?: number
  outboxOldestMs?: number | null
  outbox?: { waiting: number; oldestMs: number | null }
  cover?: { freeMicro?: number; freeMinor?: number; treasuryAgeMs?: number; balanceAgeMs?: number }
  lanes?: readonly Lane[]
}

const countsOf: Readonly<Record<string, string>> = {
  payments: 'reviews, frozen wallets, dead letters, outbox and cover',
  payouts: 'dead letters, outbox and cover',
  'chain-relayer': 'dead letters, outbox and lanes',
  pricing: 'rates',
}

function figureNeeds({ name, figures }: Told): Part {
  if (name === 'pricing') return rateNeeds(figures)
  if (!writers.includes(name)) return {}
  const told = figures as Figures
  if (typeof told.deadLetters !== 'number')
    return {
      unseen: [`${countsOf[name] ?? 'dead letters and outbox'} of ${name}: it did not tell`],
    }
  const { inReview = 0, frozenWallets = 0, deadLetters, lanes = [] } = told
  const waiting = told.outbox?.waiting ?? told.outboxWaiting ?? 0
  const oldestMs = told.outbox?.oldestMs ?? told.outboxOldestMs ?? 0
  const covered = coverNeeds(name, told.cover)
  return {
    needs: [
      ...when(inReview > 0, {
        says: `${counted(inReview, 'payment')} in review: a person decides`,
      }),
      ...when(frozenWallets > 0, { says: `${counted(frozenWallets, 'wallet')} frozen` }),
      ...when(deadLetters > 0, {
        says: `${name} gave up on ${counted(deadLetters, 'message')} (dead letters)`,
      }),
      ...when(oldestMs > outboxMaxMs, {
        says: `${name} does not get rid of ${counted(waiting, 'message')}`,
        ageMs: oldestMs,
      }),
      ...Object.values(lanes).flatMap(({ address, fault }) => saying(blockedNeeds(address, fault))),
      ...(covered.needs ?? []),
    ],
    unseen: covered.unseen ?? [],
  }
}

/** Less than nothing is free: more is promised than there is. */
function coverNeeds(name: string, cover: Figures['cover']): Part {
  const [what, asset, free, ageMs, maxMs] =
    name === 'payments'
      ? ['the treasury', 'AUSD', cover?.freeMicro, cover?.treasuryAgeMs, treasuryMaxMs]
      : ["the provider's balance", 'IDR', cover?.freeMinor, cover?.balanceAgeMs, balanceMaxMs]
  if (name !== 'payments' && name !== 'payouts') return {}
  if (free === undefined) return { unseen: [`${what}: it was not read yet`] }
  return {
    needs: [
      ...when((ageMs ?? 0) > maxMs, { says: `${what} is not read`, ageMs: ageMs ?? 0 }),
      ...when(free < 0, {
        says: `${moneyText(String(Math.round(-free)), asset)} more are promised than ${what} holds`,
      }),
    ],
  }
}

function rateNeeds(figures: Told['figures']): Part {
  const pairs = Object.entries(figures).filter(([pair]) => pair.includes('/'))
  if (pairs.length === 0) return { unseen: ['rates of pricing: it did not tell'] }
  const rates = pairs.map(([pair, rate]) => ({ ...(rate as { unavailable?: string }), pair }))
  return { needs: saying(unpricedNeeds(rates)) }
}

function queueNeeds(queues: Sources['queues']): Part {
  if ('unknown' in queues) return { unseen: [`queues: ${queues.unknown}`] }
  if (queues.known.length === 0) return { unseen: ['queues: the bus did not tell of any reader'] }
  return { needs: saying(lagNeeds(queues.known)) }
}

const stateSample = /^ausd_state_(oldest_age|age_limit)_seconds\{([^}]*)\} (\S+)$/gm
const labelIn = (labels: string, name: string) =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''

/** What has been in a state for longer than its service allows. Copies tell of the same rows. */
function stateNeeds(metrics: Sources['metrics']): Part {
  if ('unknown' in metrics)
    return { unseen: [`how long anything has been in its state: ${metrics.unknown}`] }
  const seen = new Map<string, Record<string, number>>()
  for (const [, which = '', labels = '', value] of metrics.known.matchAll(stateSample)) {
    const key = `${labelIn(labels, 'service')}: ${labelIn(labels, 'state').replaceAll('_', ' ')}`
    const one = seen.get(key) ?? {}
    seen.set(key, { ...one, [which]: Math.max(one[which] ?? 0, Number(value)) })
  }
  const untold = writers.filter(
    (name) => ![...seen.keys()].some((key) => key.startsWith(`${name}:`)),
  )
  return {
    needs: [...seen].flatMap(([key, { oldest_age: age = 0, age_limit: limit }]) =>
      limit !== undefined && age > limit
        ? [{ says: `${key} for too long`, ageMs: age * 1_000 }]
        : [],
    ),
    unseen: untold.map(
      (name) => `how long anything of ${name} has been in its state: it did not tell`,
    ),
  }
}

/** Breaks within their grace call nobody; which grace a break has, the job of the books alone tells. */
function booksNeeds({ services, standing }: Sources): Part {
  type Books = { breaks?: { beyondGrace: number; oldestMs: number }; run?: { ageMs: number } }
  const { breaks, run } = (services.find(({ name }) => name === 'books')?.figures ?? {}) as Books
  const late = (ageMs: number) =>
    when(ageMs > comparedMaxMs, { says: 'the books are not compared', ageMs })
  const open = (count: number, ageMs: number) =>
    when(count > 0, { says: `the books have ${counted(count, 'open break')}`, ageMs })
  // Before its first comparison the job knows of none.
  if (breaks && run && run.ageMs >= 0)
    return { needs: [...open(breaks.beyondGrace, breaks.oldestMs), ...late(run.ageMs)] }
  if ('unknown' in standing) return { unseen: [`the books: ${standing.unknown}`] }
  const { old, young, oldestMs } = standing.known.breaks
  const { comparedMsAgo } = standing.known
  return {
    needs: [...open(old, oldestMs), ...late(comparedMsAgo ?? 0)],
    unseen: [
      ...(young > 0
        ? [`whether ${counted(young, 'break')} of the books may rest within the grace`]
        : []),
      ...(comparedMsAgo === null ? ['the books: they were never compared'] : []),
    ],
  }
}
