import type { Sql } from 'postgres'
import { type DatabaseRole, messengers, serviceOf } from '#infra/migrations/databases'
import { reading } from '#infra/operations/cli/command'
import { endedCashouts } from '#infra/operations/pruning/subjects'
import { paymentStates, states } from '../../../services/payments/payment'

/** `since` is the start of the item. */
export type InFlight = {
  service: string
  what: string
  id: string
  state: string
  since: Date
}

/** Final states. A state missing here counts as in progress. */
const promises: readonly { role: DatabaseRole; table: string; over: readonly string[] }[] = [
  {
    role: 'payments',
    table: 'payments',
    over: paymentStates.filter((state) => !states[state].open),
  },
  { role: 'payouts', table: 'payouts', over: endedCashouts },
  { role: 'chain_relayer', table: 'operation', over: ['settled', 'failed'] },
]

/** Oldest first. */
export async function listInFlight(sql: Sql): Promise<InFlight[]> {
  const found = await Promise.all([
    ...promises.map(
      ({ role, table, over }) => sql<InFlight[]>`
        select ${serviceOf(role)} as service, ${table} as what, id, state, created_at as since
        from ${sql(role)}.${sql(table)} where state <> all(${[...over]})`,
    ),
    sql<InFlight[]>`
      select 'gateway' as service, 'identity' as what, wallet as id, state, updated_at as since
      from gateway.identities where check_at is not null`,
    ...messengers.map(
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

/** Items in progress are normal: the exit code is 0. */
export const inFlight = reading({
  does: 'list items in progress and unsent messages, oldest first',
  usage: 'in-flight [--json]',
  read: async (_, { sql }) => {
    const found = await listInFlight(sql)
    const text = found.length === 0 ? 'nothing in progress' : found.map(lineOf).join('\n')
    return { text, data: { inFlight: found }, ok: true }
  },
})
