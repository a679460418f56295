import type { ConsumerInfo, JetStreamManager, StoredMsg } from 'nats'
import pMap from 'p-map'
import type { Sql } from 'postgres'
import { askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandLine, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { readFigures } from '#infra/operations/health/bus'
import { nowOf } from '#infra/operations/predicates'
import { counted } from '#infra/operations/text'
import { isWallet } from '#infra/operations/timeline/find'
import { periodFault, timeFrom } from '#infra/operations/timeline/search'
import { firstSince, messageAt } from '#infra/operations/timeline/stored-messages'
import { integratorTopics } from '#shared/messages/catalogue'
import { EventResend, type RefusedEvent, webhookIdOf } from '#shared/messages/events'

// The events that are announced to the integrator, as their stream stores them.

const stream = 'EVENTS'
const deadlineMs = 5_000
/** Messages that are read at a time, and in one go. */
const [atOnce, batch] = [32, 512]
const listedMax = 200
/** Length of the period if its start is not given, in ms. */
const defaultMs = 86_400_000

const types: readonly string[] = integratorTopics.map(({ subject }) => subject)

export type ListedEvent = {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly wallet: string
  readonly id: string
  readonly progress: string
  readonly data: unknown
}

type Criteria = {
  readonly from: Date
  readonly to: Date
  readonly type?: string | undefined
  readonly wallet?: string | undefined
}

const criteriaOf = ({ from, to, type, wallet }: CommandLine['options'], now: Date): Criteria => ({
  from: timeFrom(String(from)) ?? new Date(now.getTime() - defaultMs),
  to: timeFrom(String(to)) ?? now,
  type: type as string | undefined,
  wallet: (wallet as string | undefined)?.toLowerCase(),
})

function faultOf({ from, to, type, wallet }: CommandLine['options']): string | undefined {
  const [begin, end] = [from, to].map((time) => (time === undefined ? undefined : String(time)))
  const wrong = periodFault({ from: begin, to: end }, (field) => `--${field}`, new Date())
  if (wrong !== undefined) return wrong
  if (type !== undefined && !types.includes(String(type)))
    return `unknown event ${type}; choose one of ${types.join(', ')}`
  if (wallet !== undefined && !isWallet(String(wallet))) return 'expected a wallet: 0x and 40 hex digits'
  return undefined
}

const list = reading({
  does: 'list the events for the integrator, oldest first; those of the last day without --from',
  usage: 'events list [--from <time>] [--to <time>] [--type <event>] [--wallet <wallet>] [--json]',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    type: { type: 'string' },
    wallet: { type: 'string' },
  },
  faultIn: (_, options) => faultOf(options),
  read: async ({ options }, operator) => {
    const criteria = criteriaOf(options, await nowOf(operator.sql))
    const { events: found, isComplete } = await readEvents(
      await managerOf(operator),
      criteria,
      await standingOf(operator, criteria),
    )
    const head = `${counted(found.length, 'event')}, ${criteria.from.toISOString()} to ${criteria.to.toISOString()}`
    const more = isComplete ? [] : [`there are more: --from ${found.at(-1)!.at.toISOString()}`]
    const text = [head, ...found.map(lineOf), ...more].join('\n')
    return { text, data: { events: found, isComplete }, ok: isComplete }
  },
})

const lineOf = ({ sequence, at, type, wallet, id, progress }: ListedEvent): string =>
  `  ${sequence}  ${at.toISOString()}  ${type}  ${wallet}  ${id}  ${progress}`

const managerOf = async ({ bus }: Operator): Promise<JetStreamManager> =>
  (await bus()).nc.jetstreamManager({ timeout: deadlineMs, checkAPI: false })

/** Returns the first events that fit, oldest first. */
export async function readEvents(
  manager: JetStreamManager,
  { from, to, type, wallet }: Criteria,
  standing: Standing,
): Promise<{ events: ListedEvent[]; isComplete: boolean }> {
  const { state } = await manager.streams.info(stream)
  const found: ListedEvent[] = []
  for (let first = await firstSince(manager, stream, from); first <= state.last_seq; first += batch) {
    const stored = await messagesIn(manager, first, Math.min(first + batch - 1, state.last_seq))
    for (const message of stored) {
      if (message.time < from || message.time > to || !types.includes(message.subject)) continue
      const data = message.json<{ wallet?: string }>()
      const event = {
        sequence: message.seq,
        at: message.time,
        type: message.subject,
        wallet: data.wallet ?? '-',
        id: idOf(message),
        progress: progressOf(standing, message),
        data,
      }
      if (type !== undefined && event.type !== type) continue
      if (wallet !== undefined && event.wallet.toLowerCase() !== wallet) continue
      if (found.length === listedMax) return { events: found, isComplete: false }
      found.push(event)
    }
    if (stored.some((message) => message.time > to)) break
  }
  return { events: found, isComplete: true }
}

async function messagesIn(manager: JetStreamManager, first: number, last: number): Promise<StoredMsg[]> {
  const sequences = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const messages = await pMap(sequences, (seq) => messageAt(manager, stream, { seq }), { concurrency: atOnce })
  return messages.filter((message) => message !== undefined)
}

const idOf = ({ header, seq }: StoredMsg): string => webhookIdOf({ messageId: header.get('Nats-Msg-Id'), seq })

/** What is known about the calls. JetStream knows up to where all events are acknowledged, and how many after that are not. */
export type Standing = Pick<ConsumerInfo, 'num_ack_pending'> & {
  readonly ack_floor: { readonly stream_seq: number }
  readonly delivered: { readonly stream_seq: number }
  /** Events that a gateway will send again, by sequence. A gateway forgets them at a restart. */
  readonly refused: ReadonlyMap<number, RefusedEvent>
  readonly givenUp: ReadonlySet<number>
  /** Events that were taken when an operator sent them again, with the last time. Sequences begin again in a new stream. */
  readonly resent: ReadonlyMap<number, Date>
}

async function standingOf(operator: Operator, { from }: Criteria): Promise<Standing> {
  const manager = await managerOf(operator)
  const figures = await readFigures(await operator.bus(), 'gateway')
  const reader = await manager.consumers.info(stream, 'integrator')
  const now = (await nowOf(operator.sql)).toISOString()
  const refused = figures
    .flatMap(({ refusedEvents = [] }) => refusedEvents as RefusedEvent[])
    // Another instance may have sent it since.
    .filter(({ sequence, retryAt }) => retryAt > now && sequence > reader.ack_floor.stream_seq)
  return {
    ...reader,
    refused: new Map(refused.map((one) => [one.sequence, one])),
    givenUp: await givenUpSince(manager, from),
    resent: await resentOf(operator.sql),
  }
}

const terminated = `$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.${stream}.integrator`

/** Returns the events that were given up, of which nats-server keeps an advisory. */
async function givenUpSince(manager: JetStreamManager, since: Date): Promise<Set<number>> {
  const found = new Set<number>()
  let seq = await firstSince(manager, 'ADVISORIES', since)
  for (;;) {
    const advisory = await messageAt(manager, 'ADVISORIES', { seq, next_by_subj: terminated })
    if (!advisory) return found
    found.add(advisory.json<{ stream_seq: number }>().stream_seq)
    seq = advisory.seq + 1
  }
}

/** Returns the progress of an event, in words that stay true if a gateway has forgotten its refusals. */
export function progressOf(standing: Standing, { seq, time }: Pick<StoredMsg, 'seq' | 'time'>): string {
  const { ack_floor, delivered, num_ack_pending, refused, givenUp, resent } = standing
  const resentAt = resent.get(seq)
  if (resentAt && resentAt > time) return 'taken'
  if (givenUp.has(seq)) return 'given up'
  if (seq <= ack_floor.stream_seq) return 'taken'
  if (seq > delivered.stream_seq) return 'waiting'
  const refusal = refused.get(seq)
  if (refusal) return `refused (${refusal.why}), will retry at ${refusal.retryAt}`
  return refused.size === num_ack_pending ? 'taken' : 'taken, or will be retried'
}

const verb = 'events resend'
const resentMax = 100

/** Counts how often an event was sent again. Sending it once more is another command. */
const resentTimes = async (sql: Sql, target: string): Promise<number> => {
  const [row] = await sql<{ times: number }[]>`
    select count(*)::int as times from ops.commands c
    join ops.outcomes o on o.command_id = c.id and o.outcome = 'done'
    where c.verb = ${verb} and c.target = ${target}`
  return row!.times
}

/** Returns the events that were taken from an operator. */
async function resentOf(sql: Sql): Promise<Map<number, Date>> {
  const rows = await sql<{ target: string; at: Date }[]>`
    select c.target, max(o.recorded_at) as at from ops.commands c
    join ops.outcomes o on o.command_id = c.id and o.outcome = 'done'
    where c.verb = ${verb} group by c.target`
  return new Map(rows.map(({ target, at }) => [Number(target.slice(stream.length + 1)), at]))
}

/** Returns the sequence of the event with a `webhook-id`, searching backwards. Undefined if none is stored. */
async function findSequence(manager: JetStreamManager, id: string): Promise<number | undefined> {
  const { state } = await manager.streams.info(stream)
  for (let last = state.last_seq; last >= state.first_seq; last -= batch) {
    const messages = await messagesIn(manager, Math.max(state.first_seq, last - batch + 1), last)
    const found = messages.find((message) => types.includes(message.subject) && idOf(message) === id)
    if (found) return found.seq
  }
  return undefined
}

const isSequence = (word: string): boolean => /^[1-9][0-9]{0,14}$/.test(word)

/** Returns the sequences of the events, each once. Throws if one is not stored. */
async function sequencesOf(operator: Operator, words: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const word of words) {
    const sequence = isSequence(word) ? Number(word) : await findSequence(await managerOf(operator), word)
    if (sequence === undefined) throw new Error(`no event ${word} is stored; events are kept for 30 days`)
    found.push(sequence)
  }
  return [...new Set(found)]
}

const resend = changing({
  does: "send events to the integrator's server again, each under its webhook-id",
  usage: 'events resend <sequence or webhook-id>… --reason <why> [--by <who>] [--json]',
  takes: [1, resentMax],
  faultIn: (words) => {
    const wrong = words.find((word) => !isSequence(word) && !/^(msg_|EVENTS:)\S+$/.test(word))
    return wrong && `${wrong} is neither a sequence of events list nor a webhook-id`
  },
  change: async ({ words, reason, by }, operator) => {
    const performed: Performed[] = []
    for (const sequence of await sequencesOf(operator, words)) {
      const target = `${stream}:${sequence}`
      const cause = `after ${await resentTimes(operator.sql, target)} resends`
      const send = (command: string) => askOutcome(operator, EventResend, { command, by, reason, sequence })
      performed.push(await perform(operator, { verb, target, cause, reason, by }, send))
    }
    return performed
  },
})

export const events = among("events for the integrator's server: list, resend", { list, resend })
