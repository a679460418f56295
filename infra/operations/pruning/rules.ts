import { consumers, streams } from '#infra/nats/topology'
import type { ServiceName } from '#shared/messages/topic'
import type { RetentionRule } from './rule'
import { endedStates, subjectEnded } from './subjects'

// A row is removed once nothing can refer to it. services/README.md lists the guards that replace it.

export const movers = {
  gateway: 'gateway',
  payments: 'payments',
  payouts: 'payouts',
  chain_relayer: 'chain-relayer',
} as const satisfies Readonly<Record<string, ServiceName>>
export type Mover = keyof typeof movers

const dayNanos = 86_400_000_000_000
/**
 * Margin on the age of a stream's messages. A stream may deliver late, because it was full or an operator stopped it.
 */
const marginDays = 7

const maxAgeDays = (stream: string): number => (streams.find(({ name }) => name === stream)!.max_age ?? 0) / dayNanos

export const inboxDays = (consumer: ServiceName): number =>
  marginDays +
  Math.max(
    ...Object.entries(consumers)
      .filter(([, plans]) => plans.some(({ durable_name: name }) => name === consumer))
      .map(([stream]) => maxAgeDays(stream)),
  )

/** Days for which a lost stream can be refilled from the outboxes. */
export const outboxDays = Math.max(maxAgeDays('COMMANDS'), maxAgeDays('EVENTS'))

/** Rule for an inbox. Rows of other consumers, such as `books`, are kept permanently. */
const inbox = (schema: Mover): RetentionRule => ({
  table: `${schema}.inbox`,
  of: movers[schema],
  which: `t.consumer = '${movers[schema]}'`,
  key: { message_id: 'text' },
  since: 'done_at',
  keptDays: inboxDays(movers[schema]),
  spared: `exists (select from ${schema}.dead_letter d where d.consumer = t.consumer
    and d.message_id = t.message_id and d.redriven_at is null)`,
  reads: { [`${schema}.dead_letter`]: ['consumer', 'message_id', 'redriven_at'] },
})

/** Rule for dead letters. Open ones are kept permanently. */
const deadLetter = (schema: Mover): RetentionRule => ({
  table: `${schema}.dead_letter`,
  key: { consumer: 'text', message_id: 'text' },
  since: 'redriven_at',
  keptDays: inboxDays(movers[schema]),
})

const outbox = (schema: Mover): RetentionRule => ({
  table: `${schema}.outbox`,
  key: { id: 'text' },
  since: 'published_at',
  keptDays: outboxDays,
  spared: `not (${subjectEnded[schema].ended})`,
  reads: subjectEnded[schema].reads,
})

/** Rule that removes a retired generation of the public record, but not its cursor. */
const generation = (table: string, place: RetentionRule['key']): RetentionRule => ({
  table: `indexer_reader.${table}`,
  key: { generation: 'int', ...place },
  keptDays: 1,
  which: `t.generation = any(array(select generation from indexer_reader.cursors
    where state = 'retired' and moved_at < now() - interval '1 day'))`,
  reads: { 'indexer_reader.cursors': ['generation', 'state', 'moved_at'] },
})

export const rules: readonly RetentionRule[] = [
  ...(Object.keys(movers) as Mover[]).flatMap((schema) => [inbox(schema), deadLetter(schema), outbox(schema)]),
  { table: 'payouts.account_checks', key: { id: 'text' }, since: 'asked_at', keptDays: 1 },
  {
    table: 'chain_relayer.signed_amounts',
    key: { signer: 'text', identity: 'text' },
    since: 'created_at',
    keptDays: 30,
  },
  {
    table: 'chain_relayer.signed_totals',
    key: { signer: 'text', spending: 'text', day: 'timestamptz' },
    since: 'day',
    keptDays: 30,
  },
  {
    table: 'chain_relayer.reverted_gas',
    key: { lane: 'text', nonce: 'int', wallet: 'text' },
    since: 'created_at',
    keptDays: 30,
  },
  generation('events', { block_number: 'bigint', log_index: 'int' }),
  generation('records', { wallet: 'text' }),
  generation('cycles', { wallet: 'text', number: 'int' }),
  {
    table: 'books.runs',
    key: { id: 'bigint' },
    since: 'ended_at',
    keptDays: 30,
    spared: 't.whole', // One whole run a day is kept: it shows when everything was last compared.
  },
]

const emptied = 'erased'

/**
 * Rule that empties bank details. A cash-out that is watched for a reversal, or has a newer anomaly for manual review,
 * keeps them.
 */
export const bankDetails = (keptDays: number): RetentionRule => ({
  table: 'payouts.payouts',
  of: 'bank details',
  key: { id: 'text' },
  since: 'updated_at',
  keptDays,
  which: `t.bank_details_key_id <> '${emptied}'`,
  spared: `t.state not in (${endedStates}) or t.next_check_at is not null or exists (
    select from payouts.anomalies a where a.payout_id = t.id
      and a.noticed_at >= now() - interval '${keptDays} days')`,
  empties: { bank_details: `''`, bank_details_key_id: `'${emptied}'`, account_mark: 'null' },
  reads: {
    'payouts.payouts': ['id', 'state', 'updated_at', 'next_check_at', 'bank_details_key_id'],
    'payouts.anomalies': ['payout_id', 'noticed_at'],
  },
})
