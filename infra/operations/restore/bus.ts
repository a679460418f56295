import { connect, DeliverPolicy, type JetStreamManager, type NatsConnection } from 'nats'
import type { Static } from 'typebox'
import { serversOf } from '#platform/bus/servers'
import { asObject, jsonObject } from '#platform/schema'
import { IdentityErased } from '#shared/messages/identity'
import { PayoutTaken } from '#shared/messages/payouts'
import {
  CreditOrdered,
  DripOrdered,
  FreezeOrdered,
  RepayOrdered,
  ReturnOrdered,
  TakeOrdered,
  VerifyOrdered,
} from '#shared/messages/relay'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import type { ProviderAccount } from '#shared/money/pair'

type EffectOrder = Static<typeof CreditOrdered.schema> | Static<typeof RepayOrdered.schema>

export type RetainedMessages = {
  /** Time of the oldest message. It is later than the backup if the store was lost. */
  readonly since: Date
  /** Checkouts that webhooks name, by our payment id. */
  readonly checkouts: Map<string, { account: ProviderAccount; checkoutId: string }>
  /** Ordered effects, by ref id. */
  readonly orders: Map<string, EffectOrder & { kind: 'credit' | 'repay' }>
  /** Ordered takes, by payout id. */
  readonly takes: Map<string, Static<typeof TakeOrdered.schema>['authorization']>
  readonly takenMinor: Map<string, bigint>
  /** Ids of the messages that order the return of a cash-out, by payout id. JetStream may still deliver them. */
  readonly returns: Map<string, readonly string[]>
  readonly verifies: Static<typeof VerifyOrdered.schema>[]
  readonly freezes: Static<typeof FreezeOrdered.schema>[]
  readonly drips: Static<typeof DripOrdered.schema>[]
  /** Erased wallets, with the time of the latest erasure. */
  readonly erased: Map<string, Date>
}

export type BusPlace = { url: string; password: string }

export async function readBus({ url, password }: BusPlace, since: Date): Promise<RetainedMessages> {
  const nc = await connect({
    ...serversOf(url),
    user: 'admin',
    pass: password,
    name: 'operator',
    inboxPrefix: '_INBOX_admin',
    reconnect: false,
    timeout: 5_000,
  })
  try {
    const manager = await nc.jetstreamManager({ timeout: 10_000 })
    const streams = ['COMMANDS', 'EVENTS', 'WEBHOOKS'] as const
    const made = await Promise.all(streams.map((name) => madeAt(manager, name)))
    const bus: RetainedMessages = {
      since: new Date(Math.max(since.getTime(), ...made)),
      checkouts: new Map(),
      orders: new Map(),
      takes: new Map(),
      takenMinor: new Map(),
      returns: new Map(),
      verifies: [],
      freezes: [],
      drips: [],
      erased: new Map(),
    }
    for (const name of streams) await readStream(nc, name, since, (seen) => record(bus, seen))
    return bus
  } finally {
    await nc.close()
  }
}

const madeAt = async (manager: JetStreamManager, stream: string) =>
  Date.parse((await manager.streams.info(stream)).created)

type StoredMessage = { subject: string; messageId: string; json: Record<string, unknown> }

async function readStream(
  nc: NatsConnection,
  stream: string,
  since: Date,
  record: (seen: StoredMessage) => void,
): Promise<void> {
  const from = { deliver_policy: DeliverPolicy.StartTime, opt_start_time: since.toISOString() }
  const consumer = await nc.jetstream().consumers.get(stream, from)
  let { num_pending: left } = await consumer.info()
  while (left > 0) {
    const messages = await consumer.fetch({ max_messages: Math.min(left, 500), expires: 2_000 })
    let read = 0
    for await (const message of messages) {
      read++
      const json = jsonObject(message.string())
      const messageId = message.headers?.get('Nats-Msg-Id') ?? ''
      if (json) record({ subject: message.subject, messageId, json })
    }
    if (read === 0) throw new Error(`${stream} reports ${left} more messages but delivers none`)
    left -= read
  }
}

function record(bus: RetainedMessages, { subject, messageId, json }: StoredMessage): void {
  const as = <T>() => json as unknown as T
  switch (subject) {
    case CreditOrdered.subject:
    case RepayOrdered.subject: {
      const kind = subject === CreditOrdered.subject ? 'credit' : 'repay'
      const order = as<EffectOrder>()
      return void bus.orders.set(order.refId, { ...order, kind })
    }
    case TakeOrdered.subject: {
      const { payoutId, authorization } = as<Static<typeof TakeOrdered.schema>>()
      return void bus.takes.set(payoutId, authorization)
    }
    case ReturnOrdered.subject: {
      const { payoutId } = as<Static<typeof ReturnOrdered.schema>>()
      return void bus.returns.set(payoutId, [...(bus.returns.get(payoutId) ?? []), messageId])
    }
    case PayoutTaken.subject: {
      const { payoutId, fiat } = as<Static<typeof PayoutTaken.schema>>()
      return void bus.takenMinor.set(payoutId, BigInt(fiat))
    }
    case VerifyOrdered.subject:
      return void bus.verifies.push(as())
    case FreezeOrdered.subject:
      return void bus.freezes.push(as())
    case IdentityErased.subject: {
      const { wallet, erasedAt } = as<Static<typeof IdentityErased.schema>>()
      return void bus.erased.set(wallet, new Date(erasedAt))
    }
    case DripOrdered.subject:
      return void bus.drips.push(as())
  }
  if (subject.startsWith(PaymentsWebhook.subject.replace('>', ''))) recordDelivery(bus, as())
}

/** Records the checkout of a webhook. Only webhooks about a checkout contain its id and our reference. */
function recordDelivery(bus: RetainedMessages, { account, body }: Static<typeof PaymentsWebhook.schema>): void {
  const data = asObject(jsonObject(body)?.data)
  const checkoutId = data?.payment_session_id
  const reference = data?.reference_id
  if (typeof checkoutId === 'string' && typeof reference === 'string')
    bus.checkouts.set(reference, { account, checkoutId })
}
