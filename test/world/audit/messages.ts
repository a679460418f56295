import { connect, type NatsConnection } from 'nats'
import postgres from 'postgres'
import type { Stack } from '#infra/local/stack'
import { within } from '#platform/deadline'

export type Stored = {
  readonly stream: string
  /** Value of the header `Nats-Msg-Id`. */
  readonly id: string
  readonly subject: string
  readonly text: string
}
export type Noted = { readonly schema: string; readonly id: string; readonly subject: string }
export type Announced = { readonly noted: number; readonly missing: readonly string[] }

/** Longest read in ms. If the last message of a stream is removed, a reader waits for the next one. */
const readMaxMs = 120_000

/** Returns all messages: a campaign is shorter than the retention. */
export async function storedMessages({ info }: Stack, withinMs = readMaxMs): Promise<Stored[]> {
  const { url, admin } = info.nats
  const nc = await connect({ servers: url, user: admin.user, pass: admin.password })
  try {
    const manager = await nc.jetstreamManager()
    const streams = await manager.streams.list().next()
    return (
      await Promise.all(
        streams.map(({ config: { name }, state }) =>
          within(storedIn(nc, name, state.messages), withinMs, `stream ${name}`),
        ),
      )
    ).flat()
  } finally {
    await nc.close()
  }
}

async function storedIn(nc: NatsConnection, stream: string, count: number): Promise<Stored[]> {
  if (count === 0) return []
  const consumer = await nc.jetstream().consumers.get(stream)
  const stored: Stored[] = []
  for await (const { subject, headers, data, info } of await consumer.consume()) {
    const said = [...(headers ?? [])].flat(2).join(' ')
    const text = `${subject} ${said} ${new TextDecoder().decode(data)}`
    stored.push({ stream, id: headers?.get('Nats-Msg-Id') ?? '', subject, text })
    if (info.pending === 0) break
  }
  return stored
}

/** Reads the published rows of every table named `outbox`. */
export async function notedAsPublished({ adminUrl }: Stack): Promise<Noted[]> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ schema: string }[]>`
      select table_schema as schema from information_schema.tables where table_name = 'outbox'`
    const rows = await Promise.all(
      tables.map(
        ({ schema }) => sql<Noted[]>`
          select ${schema} as schema, id, subject from ${sql(schema)}.outbox
          where published_at is not null`,
      ),
    )
    return rows.flat()
  } finally {
    await sql.end({ timeout: 1 })
  }
}

export function announcedIn(noted: readonly Noted[], stored: readonly Stored[]): Announced {
  const ids = new Set(stored.map(({ id }) => id))
  const missing = noted
    .filter(({ id }) => !ids.has(id))
    .map(({ schema, id, subject }) => `${schema} published ${subject} ${id}, which is in no stream`)
  return { noted: noted.length, missing }
}
