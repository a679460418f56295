import type { JetStreamManager } from 'nats'
import pMap from 'p-map'
import type { Sql } from 'postgres'
import { sentence } from '#infra/operations/text'
import type { Roots, TimelineEntry, TimelinePart } from '#infra/operations/timeline/entry'
import { deadAmong, handledAmong, handlingIn } from '#infra/operations/timeline/messages'
import { firstSince, messageAt } from '#infra/operations/timeline/stored-messages'
import type { Bus } from '#platform/bus/open'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { providerAccounts } from '#shared/money/pair'
import { deliveryReaders } from '#shared/provider/delivery'

// A delivery names a payment only in its body, so all deliveries while an item was in progress are searched. Only the
// event of a body is shown.
const stream = 'WEBHOOKS'
const lookedThroughMax = 3_000
const atOnce = 32
const deadlineMs = 5_000

type Delivery = { deliveryId: string; receivedAt: string; body: string; account: string }

/** Opens NATS on the first call. Throws if NATS is unavailable. */
export type OpenBus = () => Promise<Bus>

const managerOf = async (bus: OpenBus): Promise<JetStreamManager> =>
  (await bus()).nc.jetstreamManager({ timeout: deadlineMs, checkAPI: false })

export async function findDelivery(bus: OpenBus, id: string): Promise<string[]> {
  const manager = await managerOf(bus)
  const found = await Promise.all(
    providerAccounts.flatMap((account) =>
      deliveryReaders.map((reader) =>
        messageAt(manager, stream, { last_by_subj: paymentsWebhookSubject(account, reader, id) }),
      ),
    ),
  )
  return found.flatMap((message) => (message ? namedIn(message.json<Delivery>().body) : []))
}

const namedIn = (body: string): string[] => [
  ...new Set(body.match(/pay_[\w-]{22}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|p[syr]-[\w-]{8,60}/g) ?? []),
]

export async function readDeliveries(sql: Sql, bus: OpenBus, roots: Roots): Promise<TimelinePart> {
  const spans = await spansOf(sql, roots)
  if (spans.length === 0) return {}
  const manager = await managerOf(bus)
  const names = [...new Set(spans.flatMap((span) => span.names))]
  const found = new Map<string, Delivery>()
  let unseen: string | undefined
  for (const window of merged(spans)) {
    const looked = await lookThrough(manager, window, names)
    for (const delivery of looked.found) found.set(delivery.deliveryId, delivery)
    if (!looked.isWhole)
      unseen = `more than ${lookedThroughMax} deliveries between ${window.from.toISOString()} and ${window.to.toISOString()}`
  }
  const ids = [...found.keys()]
  const handled = await handledAmong(sql, ids)
  const entries = [...found.values()].map((one) => entryOf(one, handled.get(one.deliveryId) ?? []))
  return { entries: [...entries, ...(await deadAmong(sql, ids))], unseen }
}

const entryOf = (
  { deliveryId, receivedAt, body }: Delivery,
  handled: Parameters<typeof handlingIn>[0],
): TimelineEntry => ({
  at: new Date(receivedAt),
  where: 'provider',
  what: 'delivery',
  id: deliveryId,
  says: sentence(eventIn(body), handlingIn(handled) || 'not handled yet'),
  isOdd: handled.length === 0 || handled.some(({ attempts }) => attempts > 0),
})

/** Searches the deliveries of a window, from its start if there are too many. */
async function lookThrough(manager: JetStreamManager, { from, to }: Window, names: readonly string[]) {
  const { state } = await manager.streams.info(stream)
  const first = await firstSince(manager, stream, from)
  const last = Math.min(state.last_seq, first + lookedThroughMax - 1)
  const found: Delivery[] = []
  let reached = from.getTime()
  await pMap(
    Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at),
    async (seq) => {
      const message = reached > to.getTime() ? undefined : await messageAt(manager, stream, { seq })
      if (!message) return
      reached = Math.max(reached, message.time.getTime())
      const text = message.string()
      if (names.some((name) => text.includes(name))) found.push(JSON.parse(text) as Delivery)
    },
    { concurrency: atOnce },
  )
  return { found, isWhole: last === state.last_seq || reached > to.getTime() }
}

function eventIn(body: string): string {
  const [, event] = /"event"\s*:\s*"([\w.]{1,80})"/.exec(body) ?? []
  const [, status] = /"status"\s*:\s*"([A-Z_]{1,40})"/.exec(body) ?? []
  return sentence(event ?? 'unnamed event', status)
}

type Window = { from: Date; to: Date }
type WindowOfNames = Window & { names: string[] }

/**
 * Returns the windows to search: while the items were paid, around the last change of their rows, and around refunds.
 * `names` are ids by which a delivery names the items.
 */
const spansOf = (sql: Sql, { payments, cashouts }: Roots): Promise<WindowOfNames[]> => sql<WindowOfNames[]>`
  with known as (
    select id, created_at, greatest(created_at, expires_at, paid_at) as until, updated_at,
      array_remove(array[id, checkout_id, payment_request_id, provider_payment_id], null) as names,
      provider_payment_id
    from payments.payments where id = any(${[...payments]})
    union all select id, created_at, greatest(created_at, attempted_at, paid_at), updated_at,
      array_remove(array[id, provider_payout_id], null), null
    from payouts.payouts where id = any(${[...cashouts]})
  )
  select created_at as "from", until + interval '1 hour' as "to", names from known
  union all select updated_at - interval '10 minutes', updated_at + interval '10 minutes', names
  from known
  union all select r.created_at - interval '10 minutes', r.updated_at + interval '10 minutes', names
  from known join payments.refunds r on r.provider_payment_id = known.provider_payment_id`

function merged(spans: readonly Window[]): Window[] {
  const windows: Window[] = []
  for (const { from, to } of spans.toSorted((left, right) => +left.from - +right.from)) {
    const last = windows.at(-1)
    if (!last || from > last.to) windows.push({ from, to })
    else if (to > last.to) last.to = to
  }
  return windows
}
