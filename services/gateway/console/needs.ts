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
import type { DownCopy } from '../health/instances'
import type { Queue } from './live'
import type { Standing } from './standing'

/** A value, or the reason why it could not be read. */
export type Read<T> = { readonly known: T } | { readonly unknown: string }

/** Figures of a service; `copies` is null if the bus could not be asked. */
export type Told = {
  readonly name: string
  readonly copies: number | null
  readonly figures: Readonly<Record<string, unknown>>
}

export type Sources = {
  readonly services: readonly Told[]
  readonly readiness: Read<{ missing: readonly string[]; down: readonly DownCopy[] }>
  readonly queues: Read<readonly Queue[]>
  /** Metrics of all processes in Prometheus text format. */
  readonly metrics: Read<string>
  readonly standing: Read<Standing>
  readonly nowMs: number
}

/** An alert, and how long it has lasted. */
export type Need = { readonly says: string; readonly ageMs?: number }
/** Alerts; `unseen` lists parts that could not be checked, with the reason. */
export type Judged = { readonly needs: readonly Need[]; readonly unseen: readonly string[] }

/** Age after which a balance reading is too old, as in the alert rules. */
const treasuryMaxMs = 60_000
const balanceMaxMs = 300_000

const writers = ['gateway', 'payments', 'payouts', 'chain-relayer']

/**
 * Returns the alerts, as in `bun run ops status`. It does not check the minimum balances of treasury,
 * provider and lanes, which the gateway does not know. Pure.
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
      unseen: [`pauses, unexplained AUSD, provider lists: ${standing.unknown}`],
    }
  const { pauses, unexplained, lists } = standing.known
  const { count, ausdMicro, oldestMs } = unexplained
  return {
    needs: [
      ...pauses.map((one) => ({ says: pausedText(one) })),
      ...when(count > 0, {
        says: `unexplained AUSD in the treasury: ${moneyText(ausdMicro, 'AUSD')} (${counted(count, 'transfer')})`,
        ageMs: oldestMs,
      }),
      ...saying(listNeeds(lists)),
    ],
  }
}

const saying = (lines: readonly string[]): Need[] => lines.map((says) => ({ says }))

const when = (isSo: boolean, need: Need): Need[] => (isSo ? [need] : [])

/** Alerts about missing dependencies and instances. If the bus is down, the state of the services is unknown. */
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
          says: `an instance of ${service} does not answer (${state})`,
          ageMs: nowMs - Date.parse(since),
        })),
    ],
    unseen: 'unknown' in readiness ? [`postgres, instances of services: ${readiness.unknown}`] : [],
  }
}

type Lane = { address: string; fault: string | null; balanceWei: string | null }
/** Figures that can raise an alert, of any service. */
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
      unseen: [`${countsOf[name] ?? 'dead letters and outbox'} of ${name}: no data`],
    }
  const { inReview = 0, frozenWallets = 0, deadLetters, lanes = [] } = told
  const waiting = told.outbox?.waiting ?? told.outboxWaiting ?? 0
  const oldestMs = told.outbox?.oldestMs ?? told.outboxOldestMs ?? 0
  const covered = coverNeeds(name, told.cover)
  return {
    needs: [
      ...when(inReview > 0, {
        says: `${counted(inReview, 'payment')} in manual review`,
      }),
      ...when(frozenWallets > 0, { says: `${counted(frozenWallets, 'wallet')} frozen` }),
      ...when(deadLetters > 0, {
        says: `${name} has ${counted(deadLetters, 'dead letter')}`,
      }),
      ...when(oldestMs > outboxMaxMs, {
        says: `outbox of ${name} is backed up: ${waiting} unsent`,
        ageMs: oldestMs,
      }),
      ...Object.values(lanes).flatMap(({ address, fault }) => saying(blockedNeeds(address, fault))),
      ...(covered.needs ?? []),
    ],
    unseen: covered.unseen ?? [],
  }
}

/** Alerts about balances: not read for too long, or smaller than the committed amount. */
function coverNeeds(name: string, cover: Figures['cover']): Part {
  const [what, asset, free, ageMs, maxMs] =
    name === 'payments'
      ? ['treasury', 'AUSD', cover?.freeMicro, cover?.treasuryAgeMs, treasuryMaxMs]
      : ['provider', 'IDR', cover?.freeMinor, cover?.balanceAgeMs, balanceMaxMs]
  if (name !== 'payments' && name !== 'payouts') return {}
  if (free === undefined) return { unseen: [`${what} balance: not read yet`] }
  return {
    needs: [
      ...when((ageMs ?? 0) > maxMs, { says: `${what} balance not read`, ageMs: ageMs ?? 0 }),
      ...when(free < 0, {
        says: `committed amount exceeds ${what} balance by ${moneyText(String(Math.round(-free)), asset)}`,
      }),
    ],
  }
}

function rateNeeds(figures: Told['figures']): Part {
  const pairs = Object.entries(figures).filter(([pair]) => pair.includes('/'))
  if (pairs.length === 0) return { unseen: ['rates of pricing: no data'] }
  const rates = pairs.map(([pair, rate]) => ({ ...(rate as { unavailable?: string }), pair }))
  return { needs: saying(unpricedNeeds(rates)) }
}

function queueNeeds(queues: Sources['queues']): Part {
  if ('unknown' in queues) return { unseen: [`queues: ${queues.unknown}`] }
  if (queues.known.length === 0) return { unseen: ['queues: no consumer data'] }
  return { needs: saying(lagNeeds(queues.known)) }
}

const stateSample = /^ausd_state_(oldest_age|age_limit)_seconds\{([^}]*)\} (\S+)$/gm
const labelIn = (labels: string, name: string) =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''

/** Alerts about items in a state for too long. All instances of a service report the same rows. */
function stateNeeds(metrics: Sources['metrics']): Part {
  if ('unknown' in metrics) return { unseen: [`time in each state: ${metrics.unknown}`] }
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
    unseen: untold.map((name) => `time in each state of ${name}: no data`),
  }
}

/** Alerts about the books. Breaks within their grace period raise none; only the books job knows it. */
function booksNeeds({ services, standing }: Sources): Part {
  type Books = { breaks?: { beyondGrace: number; oldestMs: number }; run?: { ageMs: number } }
  const { breaks, run } = (services.find(({ name }) => name === 'books')?.figures ?? {}) as Books
  const late = (ageMs: number) =>
    when(ageMs > comparedMaxMs, { says: 'the books were not compared', ageMs })
  const open = (count: number, ageMs: number) =>
    when(count > 0, { says: `the books have ${counted(count, 'open break')}`, ageMs })
  // Before its first comparison the job reports no breaks.
  if (breaks && run && run.ageMs >= 0)
    return { needs: [...open(breaks.beyondGrace, breaks.oldestMs), ...late(run.ageMs)] }
  if ('unknown' in standing) return { unseen: [`the books: ${standing.unknown}`] }
  const { old, young, oldestMs } = standing.known.breaks
  const { comparedMsAgo } = standing.known
  return {
    needs: [...open(old, oldestMs), ...late(comparedMsAgo ?? 0)],
    unseen: [
      ...(young > 0 ? [`grace period of ${counted(young, 'recent break')} in the books`] : []),
      ...(comparedMsAgo === null ? ['the books: never compared'] : []),
    ],
  }
}
