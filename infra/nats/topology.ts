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
import { topics } from '#shared/messages/catalogue'
import { type RelayKind, relayFailed, relaySettled } from '#shared/messages/relay'
import type { ServiceName, Topic } from '#shared/messages/topic'
import { IdentityWebhook, PaymentsWebhook } from '#shared/messages/webhooks'

export type StreamPlan = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>
export type ConsumerPlan = Partial<ConsumerConfig> & { durable_name: ServiceName }

const minute = nanos(60_000)
const day = 24 * 60 * minute

/**
 * Exactly the catalogue's subjects, no `payments.*`: a stream that also covered the question
 * `payments.activity` would store it and answer it before its owner does.
 */
const subjectsOf = (stream: Topic['stream']): string[] =>
  topics.filter((topic) => topic.stream === stream).map((topic) => topic.subject)

const mebibyte = 1024 * 1024

/**
 * So much of the disk is each stream's own: without a bound a flood of one fills what all share, and
 * nothing can be published any more. Together they fit under `max_file_store` of nats-server.conf.
 */
const mebibytesMax = {
  WEBHOOKS: 4096,
  EVENTS: 2048,
  COMMANDS: 1024,
  ADVISORIES: 256,
  rates: 128,
} as const

/**
 * What was accepted stays until its age: no limit, deletion or acknowledgement removes it. A stream
 * that is full refuses what is published, and whoever published knows.
 */
const kept = {
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  compression: StoreCompression.S2, // JSON that is alike: infra/nats/README.md has what it saves.
  discard: DiscardPolicy.New,
  deny_delete: true,
  deny_purge: true,
  duplicate_window: 10 * minute,
}

/**
 * What the client makes of a bucket, so that its KV view works on a stream made here; but without
 * direct reads, which would let a writer of the bucket have its words sent under any subject.
 */
const bucket = (name: 'rates', history: number) => ({
  name: `KV_${name}`,
  subjects: [`$KV.${name}.>`],
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  max_msgs_per_subject: history,
  max_bytes: mebibytesMax[name] * mebibyte,
  deny_delete: true,
  allow_rollup_hdrs: true,
  allow_direct: false,
  duplicate_window: 2 * minute,
})

/** Every stream there is; a KV bucket is a stream named `KV_<bucket>`. */
export const streams: readonly StreamPlan[] = [
  {
    ...kept,
    name: 'WEBHOOKS',
    description: 'Deliveries of the providers; one message per delivery for as long as it is kept',
    subjects: subjectsOf('WEBHOOKS'),
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    max_age: 90 * day,
    max_bytes: mebibytesMax.WEBHOOKS * mebibyte,
  },
  {
    ...kept,
    name: 'COMMANDS',
    description: 'Orders to the relayer',
    subjects: subjectsOf('COMMANDS'),
    max_bytes: mebibytesMax.COMMANDS * mebibyte,
    max_age: 30 * day,
  },
  {
    ...kept,
    name: 'EVENTS',
    description: 'What happened, told by its owner',
    subjects: subjectsOf('EVENTS'),
    max_bytes: mebibytesMax.EVENTS * mebibyte,
    max_age: 30 * day,
  },
  {
    ...kept,
    name: 'ADVISORIES',
    discard: DiscardPolicy.Old, // The server says them to nobody who could try again: the newest stay.
    max_bytes: mebibytesMax.ADVISORIES * mebibyte,
    description: 'Deliveries that ended without an acknowledgement: nothing dies unseen',
    subjects: [
      '$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>',
      '$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>',
    ],
    max_age: 30 * day,
  },
  { ...bucket('rates', 64), storage: StorageType.File },
]

/** A durable has its reader's name; many copies of a service share it. */
const reader = (service: ServiceName, filters: readonly string[]): ConsumerPlan => ({
  durable_name: service,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(20_000),
  max_ack_pending: 64,
  max_deliver: -1, // The handler decides when to give up, in its own rows.
  filter_subjects: [...filters],
})

const outcomesOf = (...kinds: RelayKind[]): string[] =>
  kinds.flatMap((kind) => [relaySettled(kind).subject, relayFailed(kind).subject])

/** Who reads what: a filter names exactly what its service reacts to. */
export const consumers: Readonly<Record<Topic['stream'], readonly ConsumerPlan[]>> = {
  WEBHOOKS: [
    reader('payments', [PaymentsWebhook.subject]),
    reader('payouts', [PaymentsWebhook.subject]),
    reader('gateway', [IdentityWebhook.subject]),
  ],
  COMMANDS: [reader('chain-relayer', subjectsOf('COMMANDS'))],
  EVENTS: [
    reader('payments', outcomesOf('credit', 'repay', 'revoke', 'extend', 'freeze')),
    reader('payouts', outcomesOf('take', 'return')),
    reader('gateway', outcomesOf('verify', 'drip')),
  ],
}
