import type { ConsumerInfo, JetStreamManager } from 'nats'
import pMap from 'p-map'
import type { Sql } from 'postgres'
import { askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandLine, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { nowOf } from '#infra/operations/predicates'
import { counted } from '#infra/operations/text'
import { isWallet } from '#infra/operations/timeline/find'
import { periodFault, timeFrom } from '#infra/operations/timeline/search'
import { firstSince, messageAt } from '#infra/operations/timeline/stored-messages'
import { integratorTopics } from '#shared/messages/catalogue'
import { EventResend } from '#shared/messages/events'

// The events that are announced to the integrator, as their stream stores them.

const stream = 'EVENTS'
const deadlineMs = 5_000
/** Messages that are read at a time, and in one go. */
const [atOnce, batch] = [32, 512]
const listedMax = 200
/** Length of the period if its start is not given, in ms. */
const defaultMs = 86_400_000

const types: readonly string[] = integratorTopics.map(({ subject }) => subject)

/**
 * Progress of an event at the reader of these events: it is acknowledged, or it was delivered and may wait for a retry, or it
 * was not delivered yet. JetStream only knows up to where all are acknowledged.
 */
type Progress = 'acknowledged' | 'delivered' | 'waiting'

export type ListedEvent = {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly wallet: string
  readonly id: string
  readonly progress: Progress
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
    const { events: found, isComplete } = await readEvents(await managerOf(operator), criteria)
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
): Promise<{ events: ListedEvent[]; isComplete: boolean }> {
  const { state } = await manager.streams.info(stream)
  const reader = await manager.consumers.info(stream, 'integrator')
  const found: ListedEvent[] = []
  for (let first = await firstSince(manager, stream, from); first <= state.last_seq; first += batch) {
    const count = Math.min(batch, state.last_seq - first + 1)
    const messages = await pMap(
      Array.from({ length: count }, (_, at) => first + at),
      (seq) => messageAt(manager, stream, { seq }),
      { concurrency: atOnce },
    )
    const stored = messages.filter((message) => message !== undefined)
    for (const message of stored) {
      if (message.time < from || message.time > to || !types.includes(message.subject)) continue
      const data = message.json<{ wallet?: string }>()
      const event = {
        sequence: message.seq,
        at: message.time,
        type: message.subject,
        wallet: data.wallet ?? '-',
        id: message.header.get('Nats-Msg-Id'),
        progress: progressOf(reader, message.seq),
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

function progressOf({ ack_floor, delivered }: Pick<ConsumerInfo, 'ack_floor' | 'delivered'>, seq: number): Progress {
  if (seq <= ack_floor.stream_seq) return 'acknowledged'
  return seq <= delivered.stream_seq ? 'delivered' : 'waiting'
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

const resend = changing({
  does: "send events to the integrator's server again, each under its webhook-id",
  usage: 'events resend <sequence>… --reason <why> [--by <who>] [--json]',
  takes: [1, resentMax],
  faultIn: (words) => {
    const wrong = words.find((word) => !/^[1-9][0-9]{0,14}$/.test(word))
    return wrong && `${wrong} is not a sequence of events list`
  },
  change: async ({ words, reason, by }, operator) => {
    const performed: Performed[] = []
    for (const word of new Set(words)) {
      const target = `${stream}:${word}`
      const cause = `after ${await resentTimes(operator.sql, target)} resends`
      const send = (command: string) =>
        askOutcome(operator, EventResend, { command, by, reason, sequence: Number(word) })
      performed.push(await perform(operator, { verb, target, cause, reason, by }, send))
    }
    return performed
  },
})

export const events = among("events for the integrator's server: list, resend", { list, resend })
