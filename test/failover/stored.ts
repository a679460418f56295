import type { NatsConnection } from 'nats'
import { expecting } from '#infra/compose/smoke-test/report'
import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { query } from '../support/database'

const schemas = ['gateway', 'payments', 'payouts', 'chain_relayer']
type Attempt = { status: number | null }

/** Compares confirmed messages with the streams, each of which must contain its own. */
export async function unstored(stack: Stack, admin: NatsConnection): Promise<string> {
  const kept = new Set<string>()
  for (const stream of ['COMMANDS', 'EVENTS']) for await (const id of idsOf(admin, stream)) kept.add(id)
  const rows = await query<{ id: string }>(
    stack,
    schemas.map((name) => `select id from ${name}.outbox where published_at is not null`).join(' union all '),
  )
  const lost = rows.filter(({ id }) => !kept.has(id))
  expecting(lost.length === 0, `${lost.length} of ${rows.length} confirmed messages are missing`)

  const { webhooks } = await outsideOf(stack.info).book()
  const taken = webhooks!.filter(({ attempts }) => attempts.some(({ status }: Attempt) => status === 200))
  const manager = await admin.jetstreamManager()
  const { messages } = (await manager.streams.info('WEBHOOKS')).state
  expecting(messages >= taken.length, `only ${messages} of ${taken.length} webhook deliveries are stored`)
  return `${rows.length} orders and events, ${taken.length} webhook deliveries`
}

async function* idsOf(admin: NatsConnection, stream: string): AsyncGenerator<string> {
  const manager = await admin.jetstreamManager()
  let left = (await manager.streams.info(stream)).state.messages
  const consumer = await admin.jetstream().consumers.get(stream)
  while (left > 0) {
    const messages = await consumer.fetch({ max_messages: Math.min(left, 500), expires: 5_000 })
    const before = left
    for await (const message of messages) {
      left -= 1
      yield message.headers?.get('Nats-Msg-Id') ?? ''
    }
    expecting(left < before, `${left} messages of ${stream} cannot be read`)
  }
}
