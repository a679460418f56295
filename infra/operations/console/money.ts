import type { Sql } from 'postgres'
import { operationMicro } from '#infra/operations/predicates'
import { states, statesWith } from '../../../services/payments/payment'
import { inFlightStates } from '../../../services/payouts/cashout'

/** Money in flight of one item. Amounts are strings in the smallest unit. */
export type MoneyRow = {
  readonly kind: string
  readonly id: string
  readonly wallet: string
  readonly state: string
  readonly reason: string | null
  readonly fiat: { readonly minor: string; readonly currency: string } | null
  readonly ausdMicro: string
  readonly createdAt: Date
  /** Time at which the item entered its state. */
  readonly since: Date
}

export type MoneyInFlight = {
  readonly inFlight: readonly MoneyRow[]
  readonly latest: readonly MoneyRow[]
}

const shownMax = 20

/** States with money in flight. An open checkout has none until its payer pays. */
const inFlight = {
  payments: statesWith('open').filter((state) => !states[state].unpaid),
  payouts: [...inFlightStates],
}

export async function readMoney(sql: Sql): Promise<MoneyInFlight> {
  const payments = paymentsFrom(sql)
  const payouts = payoutsFrom(sql)
  const [flying, latest] = await Promise.all([
    sql<MoneyRow[]>`
      select * from (
        (${payments} where state in ${sql(inFlight.payments)} order by updated_at limit ${shownMax})
        union all
        (${payouts} where state in ${sql(inFlight.payouts)} order by updated_at limit ${shownMax})
        union all
        (select 'send', id::text, wallet, state, reason, null, ${operationMicro(sql)}, created_at,
          created_at from chain_relayer.operation
        where kind = 'send' and state in ('waiting', 'assigned')
        order by created_at limit ${shownMax})
      ) items order by since limit ${shownMax}`,
    sql<MoneyRow[]>`
      select * from (
        (${payments} order by changed_at desc limit ${shownMax})
        union all
        (${payouts} order by changed_at desc limit ${shownMax})
      ) items order by since desc limit ${shownMax}`,
  ])
  return { inFlight: flying, latest }
}

const paymentsFrom = (sql: Sql) => sql`
  select kind, id, wallet, state, reason,
    jsonb_build_object('minor', fiat_minor::text, 'currency', currency) as fiat,
    ausd_micro::text as "ausdMicro", created_at as "createdAt", updated_at as since
  from payments.payments`

const payoutsFrom = (sql: Sql) => sql`
  select 'cashout', id::text, wallet, state, reason,
    jsonb_build_object('minor', fiat_minor::text, 'currency', 'IDR') as fiat,
    ausd_micro::text as "ausdMicro", created_at as "createdAt", updated_at as since
  from payouts.payouts`
