import { DiscardPolicy } from 'nats'
import { type StreamPlan, streams } from '#infra/nats/topology'
import { rules } from './rules'

/** Counts that rise with traffic. A statement that scans a table growing with one of them gets slower every day. */
const traffic = [
  'payments',
  'quotes used',
  'messages',
  'users',
  'orders',
  'chain events',
  'webhooks',
  'orders and events',
] as const
type Few =
  | 'constant'
  | 'time'
  | 'anomalies'
  | 'failures'
  | 'refunds'
  | 'differences'
  | 'rebuilds'
  | 'reverted transfers'
  | 'operator requests'
  | 'currency pairs and sources'

export type KeptEntry = {
  readonly names: readonly string[]
  readonly growsWith: (typeof traffic)[number] | Few
  /** Qualification of the period: when it starts, or which rows are exempt. */
  readonly period?: string
  readonly why: string
}

export const entries: readonly KeptEntry[] = [
  {
    names: ['payments.payments', 'payouts.payouts'],
    growsWith: 'payments',
    why: 'Late money, a used quote or a signed transfer can refer to an item years later.',
  },
  {
    names: ['pricing.quotes_taken'],
    growsWith: 'quotes used',
    why: 'A quote can be used once.',
  },
  {
    names: ['payments.refunds', 'payments.reversals', 'payments.wallets'],
    growsWith: 'refunds',
    why: 'A refund counts once, a loss is recovered once, and a freeze carries the latest revision.',
  },
  {
    names: ['payments.pauses', 'payouts.pauses', 'chain_relayer.pauses'],
    growsWith: 'constant',
    why: 'One row per activity that can be paused.',
  },
  {
    names: ['payments.resolutions', 'payments.refund_orders', 'payments.returned_transfers'],
    growsWith: 'operator requests',
    why: 'Records who decided and why; a refund is ordered once, and AUSD that came back counts once.',
  },
  {
    names: ['payments.anomalies', 'payouts.anomalies'],
    growsWith: 'anomalies',
    why: 'Each second payment and each won dispute is counted once.',
  },
  {
    names: ['gateway.identity_anomalies'],
    growsWith: 'anomalies',
    why: 'List for manual review.',
  },
  {
    names: ['payouts.account_checks'],
    growsWith: 'users',
    why: 'Counts against the daily limits of account checks.',
  },
  {
    names: ['payouts.refused_accounts'],
    growsWith: 'operator requests',
    why: 'A bank account that an operator refused is not paid; the latest decision, and who made it.',
  },
  {
    names: ['payments.owed_to_cashouts', 'payments.listings', 'payouts.listings'],
    growsWith: 'constant',
    why: 'One row per source, account and window.',
  },
  {
    names: ['payments.journal', 'payouts.journal', 'chain_relayer.journal', 'books.journal'],
    growsWith: 'payments',
    why: 'Accounting records.',
  },
  {
    names: ['payments.inbox', 'payouts.inbox', 'gateway.inbox', 'chain_relayer.inbox'],
    growsWith: 'messages',
    period: 'after processing, longer while a dead letter is open',
    why: 'Recognises redeliveries, a week longer than they can occur.',
  },
  {
    names: ['payments.outbox', 'payouts.outbox', 'gateway.outbox', 'chain_relayer.outbox'],
    growsWith: 'messages',
    period: 'after publishing, once the item is final',
    why: 'Refills a lost JetStream store.',
  },
  {
    names: ['payments.dead_letter', 'payouts.dead_letter', 'gateway.dead_letter', 'chain_relayer.dead_letter'],
    growsWith: 'failures',
    period: 'after the redrive; open ones permanently',
    why: 'An open dead letter needs an operator.',
  },
  {
    names: ['payments.promise_parts'],
    growsWith: 'constant',
    why: 'About 64 partial sums of the committed amount, merged by a trigger.',
  },
  {
    names: ['gateway.users', 'gateway.identities', 'gateway.identity_rechecks'],
    growsWith: 'users',
    why: 'One row per wallet: country, latest verdict, next recheck.',
  },
  {
    names: ['gateway.accepted_terms'],
    growsWith: 'users',
    why: 'Shows which version of the terms a wallet accepted, and when.',
  },
  {
    names: ['gateway.persons'],
    growsWith: 'operator requests',
    why: "An operator's latest decision about a person's second wallet.",
  },
  {
    names: ['gateway.reminders'],
    growsWith: 'users',
    why: 'A reminder is sent once per cycle and kind, and a cycle may stay open for years.',
  },
  {
    names: ['gateway.auto_repayments'],
    growsWith: 'users',
    why: 'Each try of an automatic repayment is ordered once in its cycle, which may stay open for years.',
  },
  {
    names: ['gateway.identity_links'],
    growsWith: 'users',
    why: 'Only verdicts of inquiries that we created count, and an approval is rechecked permanently.',
  },
  {
    names: ['chain_relayer.operation'],
    growsWith: 'orders',
    why: 'An order runs once per kind and cause, and once per signed authorization.',
  },
  {
    names: ['chain_relayer.transaction', 'chain_relayer.attempt'],
    growsWith: 'orders',
    why: 'A nonce is used once. Giving back a transfer of any age requires knowing it is not ours.',
  },
  {
    names: ['chain_relayer.lane', 'chain_relayer.cursor'],
    growsWith: 'constant',
    why: 'One row per key, and how far transfers have been read.',
  },
  {
    names: ['chain_relayer.reverted_gas'],
    growsWith: 'orders',
    why: "Counts against the wallet's daily gas budget.",
  },
  {
    names: ['chain_relayer.signed_amounts'],
    growsWith: 'orders',
    why: "Counts against a key's daily limit.",
  },
  {
    names: ['chain_relayer.signed_totals'],
    growsWith: 'time',
    why: "Counts against a key's daily limit.",
  },
  {
    names: ['chain_relayer.giveback_request'],
    growsWith: 'operator requests',
    why: 'Records who asked and why; a deposit is returned once.',
  },
  {
    names: ['indexer_reader.events', 'indexer_reader.records', 'indexer_reader.cycles'],
    growsWith: 'chain events',
    period: 'after another generation has replaced theirs',
    why: 'Can be rebuilt from the chain.',
  },
  {
    names: ['indexer_reader.cursors'],
    growsWith: 'rebuilds',
    why: 'A generation number is used once.',
  },
  {
    names: ['books.chain_moves', 'books.provider_moves', 'books.names'],
    growsWith: 'payments',
    why: 'External records that a full reconciliation compares once a day, from the beginning.',
  },
  {
    names: ['books.breaks'],
    growsWith: 'differences',
    why: 'Records every difference and who owned it.',
  },
  {
    names: ['books.balances', 'books.checkpoints', 'books.totals', 'books.heartbeats'],
    growsWith: 'constant',
    why: 'One row per place, source and account, and one heartbeat.',
  },
  {
    names: ['books.runs'],
    growsWith: 'time',
    period: 'after the run; full reconciliations permanently',
    why: 'Shows the last comparison.',
  },
  {
    names: ['books.seals'],
    growsWith: 'time',
    why: 'Shows that no posting was changed since.',
  },
  {
    names: ['ops.commands', 'ops.outcomes', 'ops.proposals'],
    growsWith: 'operator requests',
    why: 'Audit log of operator commands: who, what, why, outcome, and what waits for a second operator.',
  },
  {
    names: ['payments.approvals', 'payouts.approvals', 'chain_relayer.approvals', 'ops.approvals'],
    growsWith: 'operator requests',
    why: 'Which operators signed a command that gave money away, and how much it gave.',
  },
  {
    names: ['WEBHOOKS'],
    growsWith: 'webhooks',
    why: 'Recognises repeated deliveries; the providers list older ones.',
  },
  {
    names: ['COMMANDS', 'EVENTS'],
    growsWith: 'orders and events',
    why: 'Outlasts any outage.',
  },
  { names: ['ADVISORIES'], growsWith: 'failures', why: 'List for manual review.' },
  {
    names: ['KV_rates'],
    growsWith: 'currency pairs and sources',
    why: 'Rate history; the current rate never expires.',
  },
]

export const growingTables: readonly string[] = entries
  .filter(({ growsWith }) => (traffic as readonly string[]).includes(growsWith))
  .flatMap(({ names }) => names)
  .filter((name) => name.includes('.'))

const dayNanos = 86_400_000_000_000
const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte
const sizeText = (bytes: number) => (bytes >= gibibyte ? `${bytes / gibibyte} GiB` : `${bytes / mebibyte} MiB`)

function streamPeriod(plan: StreamPlan): string {
  const { max_age: age = 0, max_bytes: bytes = 0, max_msgs_per_subject: versions = 0 } = plan
  const time = age > 0 ? `${age / dayNanos} days` : `${versions} versions per key`
  const whenFull = plan.discard === DiscardPolicy.Old ? ', the oldest discarded first' : ''
  return `${time}, at most ${sizeText(bytes)}${whenFull}`
}

export const permanently = 'permanently'

export function periodOf(name: string, period?: string): string {
  const stream = streams.find((plan) => plan.name === name)
  if (stream) return streamPeriod(stream)
  const own = rules.filter(({ table }) => table === name)
  if (own.length === 0) return permanently
  const days = own.map(({ keptDays, of }) => {
    const text = `${keptDays} ${keptDays === 1 ? 'day' : 'days'}`
    return of?.endsWith('-list') ? `provider-list rows ${text}` : text
  })
  return [days.join(', '), period].filter(Boolean).join(' ')
}
