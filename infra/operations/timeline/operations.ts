import type { Sql } from 'postgres'
import { operationMicro } from '#infra/operations/predicates'
import { counted, factsOf, sentence } from '#infra/operations/text'
import type { Roots, TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { relayKinds } from '#shared/messages/relay'
import { moneyText } from '#shared/money/text'

type Operation = {
  id: string
  kind: string
  cause: string
  wallet: string
  ausd: string | null
  state: string
  lane: string | null
  nonce: number | null
  tries: number
  txHash: string | null
  blockNumber: string | null
  reason: string | null
  createdAt: Date
  updatedAt: Date
}

/**
 * Selects the operations of items. The cause of an order is the item's id, optionally with the number of a further ref,
 * and a time or an amount.
 */
const causes = (sql: Sql, { payments, cashouts }: Roots) => sql`
  kind = any(${[...relayKinds]}) and (cause = any(${[...payments, ...cashouts]})
    or cause ~ any(${payments.map((id) => `^${id}[.:]`)}))`

export const findOperations = (sql: Sql, roots: Roots) => sql<Operation[]>`
  select id, kind, cause, wallet, ${operationMicro(sql)} as ausd, state, lane, nonce, tries,
    tx_hash as "txHash", block_number::text as "blockNumber", reason,
    created_at as "createdAt", updated_at as "updatedAt"
  from chain_relayer.operation
  where id = any(${[...roots.operations]}) or ${causes(sql, roots)} order by created_at`

export async function readOperations(sql: Sql, roots: Roots): Promise<TimelinePart> {
  if (isEmpty(roots)) return {}
  const operations = await findOperations(sql, roots)
  const carried = operations.filter(({ lane }) => lane !== null)
  const lanes = carried.map(({ lane }) => lane!)
  const nonces = carried.map(({ nonce }) => nonce!)
  return {
    items: operations.filter(({ id }) => roots.operations.includes(id)).map(itemOf),
    entries: [
      ...operations.flatMap(entriesOf),
      ...(await transactionsOf(sql, lanes, nonces)),
      ...(await attemptsOf(sql, lanes, nonces)),
    ],
  }
}

const isEmpty = ({ payments, cashouts, operations }: Roots) =>
  payments.length + cashouts.length + operations.length === 0

const itemOf = (one: Operation): TracedItem => ({
  kind: one.kind,
  id: one.id,
  wallet: one.wallet,
  state: one.state,
  reason: one.reason,
  createdAt: one.createdAt,
  facts: factsOf({
    cause: one.cause,
    of: one.ausd && moneyText(one.ausd, 'AUSD'),
    transaction: one.txHash,
    block: one.blockNumber,
  }),
})

function entriesOf(one: Operation): TimelineEntry[] {
  const entry = (at: Date, what: string, says: string, isOdd = false): TimelineEntry => ({
    at,
    where: 'chain-relayer',
    what,
    id: one.id,
    says,
    isOdd,
  })
  const of = one.ausd && moneyText(one.ausd, 'AUSD')
  return [
    entry(one.createdAt, 'order', sentence(`${one.kind} ${one.cause}`, of)),
    entry(
      one.updatedAt,
      'state',
      sentence(
        `${one.kind} ${one.state}`,
        one.reason,
        one.tries > 0 && `postponed ${counted(one.tries, 'time')}`,
        one.txHash && `in ${one.txHash}`,
        one.blockNumber && `block ${one.blockNumber}`,
      ),
      one.state === 'failed' || one.tries > 0,
    ),
  ]
}

/** Pairs lanes and nonces by position. */
const placesOf = (sql: Sql, lanes: readonly string[], nonces: readonly number[]) => sql`
  select * from unnest(${[...lanes]}::text[], ${[...nonces]}::int[])`

async function transactionsOf(sql: Sql, lanes: readonly string[], nonces: readonly number[]) {
  const rows = await sql<
    {
      lane: string
      nonce: number
      purpose: string
      carries: number
      outcome: string | null
      createdAt: Date
      updatedAt: Date
    }[]
  >`
    select lane, nonce, purpose, jsonb_array_length(operation_ids) as carries, outcome,
      created_at as "createdAt", updated_at as "updatedAt"
    from chain_relayer.transaction where (lane, nonce) in (${placesOf(sql, lanes, nonces)})`
  return rows.flatMap(({ lane, nonce, purpose, carries, outcome, createdAt, updatedAt }): TimelineEntry[] => {
    const id = `${lane}:${nonce}`
    const together = carries > 1 && `with ${counted(carries - 1, 'other operation')}`
    return [
      {
        at: createdAt,
        where: 'chain-relayer',
        what: 'lane',
        id,
        says: sentence(`nonce ${nonce}`, purpose, together),
      },
      {
        at: updatedAt,
        where: 'chain',
        what: 'final',
        id,
        says: outcome ?? 'not yet final',
        isOdd: outcome !== null && outcome !== 'ok',
      },
    ]
  })
}

async function attemptsOf(sql: Sql, lanes: readonly string[], nonces: readonly number[]) {
  const rows = await sql<
    {
      hash: string
      attempt: number
      purpose: string
      fee: string
      broadcasts: number
      error: string | null
      createdAt: Date
      broadcastAt: Date | null
    }[]
  >`
    select hash, attempt, purpose, max_fee_wei::text as fee, broadcasts, last_error as error,
      created_at as "createdAt", broadcast_at as "broadcastAt"
    from chain_relayer.attempt where (lane, nonce) in (${placesOf(sql, lanes, nonces)})`
  return rows.map(
    (row): TimelineEntry => ({
      at: row.broadcastAt ?? row.createdAt,
      where: 'chain-relayer',
      what: 'attempt',
      id: row.hash,
      says: sentence(
        `number ${row.attempt}`,
        row.purpose === 'noop' && 'no-op to use up the nonce',
        row.broadcastAt ? `broadcast ${counted(row.broadcasts, 'time')}` : 'signed, no broadcast recorded',
        `max fee ${row.fee} wei per gas`,
        row.error,
      ),
      isOdd: row.error !== null || row.purpose === 'noop',
    }),
  )
}
