import type { Sql } from 'postgres'
import { messengers, serviceOf } from '#infra/migrations/databases'
import { ageText } from '#infra/operations/books/text'
import { reading } from '#infra/operations/cli/command'
import { nowOf, predicate } from '#infra/operations/predicates'
import { isOpen as isOpenOperation, operations } from '../../../services/chain-relayer/operations/operation.table'
import { isOpen as isOpenPayment, payments } from '../../../services/payments/payment.table'
import { cashouts, isOpen as isOpenCashout } from '../../../services/payouts/cashout.table'

/** Item in progress. `since` is when it started. */
export type InFlight = {
  service: string
  what: string
  id: string
  state: string
  since: Date
}

/** Returns all items in progress, oldest first. */
export async function listInFlight(sql: Sql): Promise<InFlight[]> {
  const found = await Promise.all([
    sql<InFlight[]>`
      select 'payments' as service, 'payments' as what, id, state, created_at as since
      from payments.payments where ${predicate(sql, isOpenPayment(payments))}`,
    sql<InFlight[]>`
      select 'payouts' as service, 'payouts' as what, id, state, created_at as since
      from payouts.payouts where ${predicate(sql, isOpenCashout(cashouts))}`,
    sql<InFlight[]>`
      select 'chain-relayer' as service, 'operation' as what, id, state, created_at as since
      from chain_relayer.operation where ${predicate(sql, isOpenOperation(operations))}`,
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

const lineOf = ({ service, what, id, state, since }: InFlight, now: Date): string =>
  `${ageText(now.getTime() - since.getTime()).padStart(7)}  ${service}  ${what}  ${state}  ${id}`

/** Command with exit code 0 also for items in progress, which are normal. */
export const inFlight = reading({
  does: 'list items in progress and unsent messages, oldest first',
  usage: 'in-flight [--json]',
  read: async (_, { sql }) => {
    const found = await listInFlight(sql)
    const now = await nowOf(sql)
    const text = found.map((one) => lineOf(one, now)).join('\n') || 'nothing in progress'
    return { text, data: { inFlight: found }, ok: true }
  },
})
