import type { TSchema } from 'typebox'
import { integratorTopics } from '#shared/messages/catalogue'

/** Meanings of the fields of events, or of one event's. `eventFieldLines` throws for a field that has none. */
const meanings: Readonly<Record<string, string>> = {
  ausd: '10⁻⁶ AUSD',
  'autoRepay.max': 'the most that is still taken, 10⁻⁶ AUSD',
  'autoRepay.source': 'source of the AUSD',
  'credit.due.kind': 'kind of the reminder',
  currency: 'currency of `fiat`',
  cycle: 'number of the cycle',
  defaultsAt: 'a payment until then prevents a default',
  dueAt: 'repay until then',
  erasedAt: 'time of the erasure',
  fiat: 'rupiah, or sen',
  kind: 'kind of the payment',
  occurredAt: 'time of the event',
  outcome: 'how the try ended',
  paymentId: '`id` of the item',
  payoutId: '`id` of the item',
  'payouts.taken.fiat': 'rupiah that the bank receives',
  reason: 'why the try failed',
  txHash: 'transaction of the repayment',
  verified: 'whether the wallet is verified now',
  wallet: 'wallet of the user',
}

/** Types of named schemas in words. */
const types: Readonly<Record<string, string>> = {
  Address: 'address in any case',
  Amount: 'digits',
  Hash: '`0x` and 64 hex digits',
  Timestamp: 'ISO 8601, UTC',
  UnixSeconds: 'digits, unix seconds',
  Uuid: 'UUID',
}

type Schema = TSchema & {
  readonly title?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

function typeOf({ title, type, enum: words, anyOf, format }: Schema): string {
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  if (words) return words.map((word) => `\`${word}\``).join(', ')
  const named = title && types[title]
  if (named) return named
  if (title ?? format) return `${title ?? format}`
  if (!type) throw new Error('a field has no type in words')
  return type
}

function rowsOf(event: string, { properties = {}, required = [] }: Schema, prefix = '', isOpen = false): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`
    const isOptional = isOpen || !required.includes(name)
    if (schema.properties) return rowsOf(event, schema, `${path}.`, isOptional)
    const meaning = meanings[`${event}.${path}`] ?? meanings[path]
    if (!meaning) throw new Error(`add the meaning of ${path} to infra/documents/event-fields.ts`)
    return [`| \`${path}\` | ${typeOf(schema)} | ${meaning}${isOptional ? '; may be absent' : ''} |`]
  })
}

/** Returns a table for each schema, under the events that have it. */
export const eventFieldLines = (): string[] =>
  [...Map.groupBy(integratorTopics, ({ schema }) => schema)].flatMap(([schema, topics], at) => [
    ...(at === 0 ? [] : ['']),
    `${topics.map(({ subject }) => `\`${subject}\``).join(', ')}:`,
    '',
    '| field | type | meaning |',
    '|---|---|---|',
    ...rowsOf(topics[0]!.subject, schema as Schema),
  ])
