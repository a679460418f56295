import { topics } from '#shared/messages/catalogue'
import { CreditAutorepay, CreditDue } from '#shared/messages/credit'
import { IdentityDecided, IdentityErased } from '#shared/messages/identity'
import type { RelayKind } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'

/** The console's page has a filter for each. */
export const flows = ['in', 'out', 'users', 'webhook'] as const
export type Flow = (typeof flows)[number]

/** One message of the feed. Amounts are strings of digits in the smallest unit. */
export type FeedEntry = {
  readonly flow: Flow
  readonly subject: string
  readonly says: string
  readonly odd: boolean
  readonly item?: string
  readonly wallet?: string
  readonly fiat?: { readonly minor: string; readonly currency: string }
  readonly ausdMicro?: string
  readonly txHash?: string
  readonly reason?: string
}

/**
 * Returns the entry of a message. It has only the fields named here, because a message can contain a signature, and a
 * delivery the user's name and bank account.
 */
export function feedEntryOf(subject: string, payload: unknown): FeedEntry | undefined {
  const topic = topics.find((one) => covers(one, subject))
  if (!topic || typeof payload !== 'object' || payload === null) return undefined
  const fields = payload as Fields
  if (topic.stream === 'WEBHOOKS') return deliveryOf(subject, fields)
  const text = (name: string) => textIn(fields, name)
  const currency = text('currency') ?? (text('payoutId') ? 'IDR' : undefined)
  const [item] = [text('paymentId'), text('payoutId'), text('refId'), text('cause')].filter(Boolean)
  const minor = amountIn(fields, 'fiat')
  const facts = {
    item: item && bare(item),
    wallet: text('wallet') ?? textIn(fieldsIn(fields.authorization), 'from'),
    fiat: minor && currency ? { minor, currency } : undefined,
    ausdMicro: amountIn(fields, 'ausd'),
    txHash: text('txHash'),
    reason: text('reason'),
  }
  return { ...wordsOf(topic, fields), subject, ...given(facts) } as FeedEntry
}

type Fields = Readonly<Record<string, unknown>>

const covers = ({ subject }: Topic, said: string): boolean =>
  subject.endsWith('.>') ? said.startsWith(subject.slice(0, -1)) : said === subject

const textIn = (fields: Fields, name: string): string | undefined =>
  typeof fields[name] === 'string' && fields[name].length <= 200 ? fields[name] : undefined

const amountIn = (fields: Fields, name: string): string | undefined => {
  const text = textIn(fields, name)
  return text !== undefined && /^[0-9]+$/.test(text) ? text : undefined
}

const given = (facts: Fields): Fields =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))

/** Returns the item of a cause: `pay_….2` is a further ref of a payment, `wallet:revision` an order. */
const bare = (cause: string): string => cause.replace(/[:.].*$/, '')

const orders: Readonly<Record<RelayKind, string>> = {
  credit: 'credit',
  repay: 'repayment',
  revoke: 'reversal',
  extend: 'hold extension',
  verify: 'verified flag',
  freeze: 'freeze',
  drip: 'native coin drip',
  take: 'AUSD transfer to treasury',
  return: 'AUSD return',
  giveback: 'deposit return',
  send: 'send',
  autorepay: 'automatic repayment',
}
const inwards: readonly string[] = ['credit', 'repay', 'revoke', 'extend']
const outwards: readonly string[] = ['take', 'return', 'giveback', 'send']

type MotionText = Pick<FeedEntry, 'flow' | 'says' | 'odd'>

function wordsOf(topic: Topic, fields: Fields): MotionText {
  const [owner = '', what = '', outcome] = topic.subject.split('.')
  const says = aboutUsers[topic.subject]?.(fields)
  if (says !== undefined) return { flow: 'users', says, odd: false }
  if (topic.stream === 'COMMANDS' || outcome !== undefined) {
    const order = orders[what as RelayKind] ?? what
    const says = outcome === undefined ? `${order} ordered` : `${order} ${outcomes[outcome]}`
    return { flow: flowOf(what), says, odd: outcome === 'failed' }
  }
  const flow = owner === 'payouts' ? 'out' : 'in'
  const kind = flow === 'out' ? 'cash-out' : fields.kind === 'settlement' ? 'settlement' : 'top-up'
  const odd = what === 'review' || what === 'returned'
  return { flow, says: `${kind} ${events[what] ?? what}`, odd }
}

const outcomes: Readonly<Record<string, string>> = {
  settled: 'final on the chain',
  failed: 'failed permanently',
}
const events: Readonly<Record<string, string>> = {
  paid: 'paid',
  settled: 'completed',
  review: 'needs manual review',
  taken: 'AUSD received',
  returned: 'returned, refused by the bank',
}

const flowOf = (kind: string): Flow => (inwards.includes(kind) ? 'in' : outwards.includes(kind) ? 'out' : 'users')

/** The words for each event of the gateway. */
const aboutUsers: Readonly<Record<string, (fields: Fields) => string>> = {
  [IdentityDecided.subject]: ({ verified }) =>
    verified === true ? 'identity approved' : 'identity approval withdrawn',
  [IdentityErased.subject]: () => 'personal data erased',
  [CreditDue.subject]: () => 'reminder of a due debt',
  [CreditAutorepay.subject]: ({ outcome }) => `debt ${outcome === 'repaid' ? '' : 'not '}repaid automatically`,
}

function deliveryOf(subject: string, delivery: Fields): FeedEntry {
  const body = parsed(delivery.body)
  const kind = textIn(body, 'event') ?? textIn(body, 'type') ?? 'of an unknown kind'
  const reference = textIn(fieldsIn(body.data), 'reference_id')?.match(ourReference)?.[0]
  const wallet = textIn(body, 'externalUserId')
    ?.match(/^0x[0-9a-f]{40}$/i)?.[0]
    .toLowerCase()
  const from = textIn(delivery, 'account') ?? textIn(delivery, 'provider') ?? 'unknown'
  const [family = '', source = ''] = subject.split('.')
  return {
    flow: 'webhook',
    subject: `${family}.${source}`,
    says: `webhook ${kind.slice(0, 60)} from ${from}`,
    odd: false,
    ...given({ item: reference ?? wallet, wallet }),
  }
}

/** Matches the id of a payment or a cash-out. */
const ourReference = /^(pay_[A-Za-z0-9_-]{22}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})/

const fieldsIn = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

function parsed(body: unknown): Fields {
  try {
    return fieldsIn(JSON.parse(String(body)))
  } catch {
    return {}
  }
}
