import type { Sql } from 'postgres'
import { type DatabaseRole, serviceOf } from '#infra/migrations/databases'
import { reading } from '#infra/ops/verb'

/** Something that has begun and not ended. `since` is when it began. */
export type InFlight = {
  service: string
  what: string
  id: string
  state: string
  since: Date
}

/** States in which nothing more is expected. A state this table does not know counts as in flight. */
const promises: readonly { role: DatabaseRole; table: string; over: readonly string[] }[] = [
  {
    role: 'payments',
    table: 'payments',
    over: ['expired', 'replaced', 'credited', 'repaid', 'revoked', 'refunded'],
  },
  { role: 'payouts', table: 'payouts', over: ['paid', 'failed', 'returned'] },
  { role: 'chain_relayer', table: 'operation', over: ['settled', 'failed'] },
]
const senders: readonly DatabaseRole[] = ['gateway', 'payments', 'payouts', 'chain_relayer']

/** Every promise that is not kept yet and every message that is not sent yet, oldest first. */
export async function listInFlight(sql: Sql): Promise<InFlight[]> {
  const found = await Promise.all([
    ...promises.map(
      ({ role, table, over }) => sql<InFlight[]>`
        select ${serviceOf(role)} as service, ${table} as what, id, state, created_at as since
        from ${sql(role)}.${sql(table)} where state <> all(${[...over]})`,
    ),
    ...senders.map(
      (role) => sql<InFlight[]>`
        select ${serviceOf(role)} as service, subject as what, id, 'unsent' as state,
          created_at as since
        from ${sql(role)}.outbox where published_at is null`,
    ),
  ])
  return found.flat().sort((left, right) => left.since.getTime() - right.since.getTime())
}

const lineOf = ({ service, what, id, state, since }: InFlight): string => {
  const seconds = Math.round((Date.now() - since.getTime()) / 1_000)
  return `${String(seconds).padStart(7)} s  ${service}  ${what}  ${state}  ${id}`
}

/** What has begun and not ended; that there is something is no fault. */
export const inFlight = reading({
  does: 'what has begun and not ended, and what is not sent, oldest first',
  usage: 'in-flight [--json]',
  read: async (_, { sql }) => {
    const found = await listInFlight(sql)
    const text = found.length === 0 ? 'nothing is in flight' : found.map(lineOf).join('\n')
    return { text, data: { inFlight: found }, ok: true }
  },
})
