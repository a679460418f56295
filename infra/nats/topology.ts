import {
  AckPolicy,
  type ConsumerConfig,
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
} from 'nats'
import { integratorTopics, topics } from '#shared/messages/catalogue'
import { type RelayKind, relayFailed, relaySettled } from '#shared/messages/relay'
import type { ServiceName, Topic } from '#shared/messages/topic'
import { IdentityWebhook, paymentsWebhooksOf } from '#shared/messages/webhooks'

/** `allow_msg_ttl` lets a message expire by its header `Nats-TTL`; nats 2.29 does not know the setting. */
export type StreamPlan = Partial<StreamConfig> &
  Pick<StreamConfig, 'name' | 'subjects'> & { readonly allow_msg_ttl: true }
export type ConsumerPlan = Partial<ConsumerConfig> & { durable_name: ServiceName | 'integrator' }

const minute = nanos(60_000)
const day = 24 * 60 * minute

/**
 * Returns the subjects of a stream, which are exact: a stream on `payments.*` would also store the request
 * `payments.activity`, and answer it before the service does.
 */
const subjectsOf = (stream: Topic['stream']): string[] =>
  topics.filter((topic) => topic.stream === stream).map((topic) => topic.subject)

/**
 * Returns the subject of a heartbeat, by which `operations` proves that a stream stores messages. No consumer reads it,
 * and it expires after seconds.
 */
export const heartbeatSubject = (stream: string, id: string): string => `heartbeat.${stream}.${id}`

const mebibyte = 1024 * 1024

/**
 * Size limit of each stream, so that a flood of one stream does not fill the disk. The sum fits under `max_file_store`
 * of nats-server.conf.
 */
const mebibytesMax = {
  WEBHOOKS: 4096,
  EVENTS: 2048,
  COMMANDS: 1024,
  ADVISORIES: 256,
  rates: 128,
} as const

/**
 * Settings of a stream from which no limit, deletion or acknowledgement removes a message before it expires. A full
 * stream refuses new messages, and the publisher gets the error.
 */
const kept = {
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  compression: StoreCompression.S2, // S2 stores 12,000 recorded webhooks of 1.6 kB in 4.7 MB instead of 19.0.
  discard: DiscardPolicy.New,
  // guard: no user can remove a message from a stream
  deny_delete: true,
  // guard: no user can remove a message from a stream
  deny_purge: true,
  duplicate_window: 10 * minute,
}

/**
 * Settings that the client's KV view expects, but without direct reads, which would let a writer of the bucket send its
 * value to any subject.
 */
const bucket = (name: 'rates', history: number) => ({
  name: `KV_${name}`,
  subjects: [`$KV.${name}.>`],
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  max_msgs_per_subject: history,
  max_bytes: mebibytesMax[name] * mebibyte,
  deny_delete: true,
  // A roll-up would let one permitted subject remove every other rate.
  deny_purge: true,
  allow_rollup_hdrs: false,
  allow_direct: false,
  duplicate_window: 2 * minute,
})

const plans: readonly Omit<StreamPlan, 'allow_msg_ttl'>[] = [
  {
    ...kept,
    name: 'WEBHOOKS',
    description: 'Provider webhooks, one message per delivery',
    subjects: subjectsOf('WEBHOOKS'),
    // guard: a webhook is stored once while its stream retains messages
    max_msgs_per_subject: 1,
    // guard: a webhook is stored once while its stream retains messages
    discard_new_per_subject: true,
    max_age: 90 * day,
    max_bytes: mebibytesMax.WEBHOOKS * mebibyte,
  },
  {
    ...kept,
    name: 'COMMANDS',
    description: 'Commands to the relayer',
    subjects: subjectsOf('COMMANDS'),
    max_bytes: mebibytesMax.COMMANDS * mebibyte,
    max_age: 30 * day,
  },
  {
    ...kept,
    name: 'EVENTS',
    description: 'Domain events, published by their owner',
    subjects: subjectsOf('EVENTS'),
    max_bytes: mebibytesMax.EVENTS * mebibyte,
    max_age: 30 * day,
  },
  {
    ...kept,
    name: 'ADVISORIES',
    discard: DiscardPolicy.Old, // The server cannot retry a refused advisory, so the stream keeps the newest.
    max_bytes: mebibytesMax.ADVISORIES * mebibyte,
    description: 'Deliveries that ended without an acknowledgement',
    subjects: ['$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>', '$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>'],
    max_age: 30 * day,
  },
  { ...bucket('rates', 64), storage: StorageType.File },
]

export const streams: readonly StreamPlan[] = plans.map((plan) => ({
  ...plan,
  subjects: [...plan.subjects, heartbeatSubject(plan.name, '*')],
  allow_msg_ttl: true,
}))

/** Plan of a consumer, which is named after its user and shared by its instances. */
const reader = (service: ConsumerPlan['durable_name'], filters: readonly string[]): ConsumerPlan => ({
  durable_name: service,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(20_000),
  max_ack_pending: 64,
  max_deliver: -1, // The handler decides when to dead-letter a message, and stores that in its own rows.
  filter_subjects: [...filters],
})

const outcomesOf = (...kinds: RelayKind[]): string[] =>
  kinds.flatMap((kind) => [relaySettled(kind).subject, relayFailed(kind).subject])

const announced = integratorTopics.map(({ subject }) => subject)

export const consumers: Readonly<Record<Topic['stream'], readonly ConsumerPlan[]>> = {
  WEBHOOKS: [
    reader('payments', paymentsWebhooksOf('payments')),
    reader('payouts', paymentsWebhooksOf('payouts')),
    reader('gateway', [IdentityWebhook.subject]),
  ],
  COMMANDS: [reader('chain-relayer', subjectsOf('COMMANDS'))],
  EVENTS: [
    reader('payments', outcomesOf('credit', 'repay', 'revoke', 'extend', 'freeze')),
    reader('payouts', outcomesOf('take', 'return')),
    reader('gateway', outcomesOf('verify', 'drip', 'autorepay')),
    // An event that is not taken waits unacknowledged for up to an hour. New ones pass it until there are so many.
    { ...reader('integrator', announced), max_ack_pending: 10_000 },
  ],
}
