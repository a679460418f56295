import type { Sql } from 'postgres'
import { messengers } from '#infra/migrations/databases'
import { findDelivery, type OpenBus } from '#infra/operations/timeline/deliveries'
import type { Roots } from '#infra/operations/timeline/entry'

type Found = { kind: 'payment' | 'cashout' | 'operation'; id: string }

export const isWallet = (id: string) => /^0x[0-9a-fA-F]{40}$/.test(id)
const isHash = (id: string) => /^0x[0-9a-fA-F]{64}$/.test(id)
const isUuid = (id: string) => /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(id)

/** Tests for `wallet:nonce` of a signed authorization. */
const isSigned = (id: string) => /^0x[0-9a-fA-F]{40}:0x[0-9a-fA-F]{64}$/.test(id)

export async function findRoots(sql: Sql, bus: OpenBus, asked: string): Promise<Roots> {
  const [, number] = /^#?([0-9]{1,18})$/.exec(asked) ?? []
  const item = number && (await itemOfBreak(sql, number))
  if (!item) return await rootsBy(sql, bus, idOf(asked))
  const roots = await rootsBy(sql, bus, idOf(item.replace(/^lane:/, '')))
  return { ...roots, others: [...new Set([...roots.others, item, `break ${number}`])] }
}

function idOf(asked: string): string {
  const id = /^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(asked) ? `0x${asked}` : asked
  return isHash(id) || isWallet(id) || isUuid(id) || isSigned(id) ? id.toLowerCase() : id
}

async function rootsBy(sql: Sql, bus: OpenBus, id: string): Promise<Roots> {
  if (isWallet(id)) return { ...rootsOf([], id), wallets: [id] }
  if (isSigned(id)) return rootsOf(await byAuthorization(sql, id), id)
  if (isHash(id)) {
    const found = await byTransaction(sql, id)
    return { ...rootsOf(found, id), others: [id, ...(await logsOf(sql, id))] }
  }
  const found = await byId(sql, id)
  if (found.length > 0) return rootsOf(found, id)
  const named = id.startsWith('dlv_') ? await findDelivery(bus, id) : await idsInMessage(sql, id)
  const further = (await Promise.all(named.map((one) => byId(sql, one)))).flat()
  const wallets = further.length > 0 ? [] : await byApplicant(sql, id)
  return { ...rootsOf(further, id), wallets }
}

function rootsOf(found: readonly Found[], id: string): Roots {
  const idsOf = (kind: Found['kind']) => [...new Set(found.flatMap((one) => (one.kind === kind ? one.id : [])))]
  return {
    payments: idsOf('payment'),
    cashouts: idsOf('cashout'),
    operations: idsOf('operation'),
    wallets: [],
    others: [id],
  }
}

/** Finds a wallet by its id at the identity provider. This search comes last, because it has no index. */
async function byApplicant(sql: Sql, id: string): Promise<string[]> {
  const found = await sql<{ wallet: string }[]>`
    select wallet from gateway.identities where provider_ref = ${id}`
  return found.map(({ wallet }) => wallet)
}

/** Number of cash-outs to a refused bank account that are shown, the newest. */
const ofAccountMax = 20

/** Finds items by id. Each of these columns is indexed, or its table is small. */
const byId = async (sql: Sql, asked: string): Promise<Found[]> => {
  // A further ref appends a number to the payment id, an extension a time, a revocation an amount.
  const id = /^pay_[\w-]{22}/.exec(asked)?.[0] ?? asked
  return sql<Found[]>`
    select 'payment' as kind, id from payments.payments
    where id = ${id} or quote_id = ${id} or checkout_id = ${id} or payment_request_id = ${id}
      or provider_payment_id = ${id}
    union select 'payment', payment_id from payments.refunds
    where (id = ${id} or provider_payment_id = ${id}) and payment_id <> ''
    union select 'payment', payment_id from payments.anomalies
    where object = ${id} and payment_id is not null
    union select 'cashout', id from payouts.payouts
    where id = ${id} or quote_id = ${id} or provider_payout_id = ${id}
    union (select 'cashout', p.id from payouts.refused_accounts r join payouts.payouts p on p.account_mark = any(r.marks)
    where r.account = ${id} order by p.created_at desc limit ${ofAccountMax})
    union select case when left(reference, 4) = 'pay_' then 'payment' else 'cashout' end, reference
    from books.provider_moves
    where (product_id = ${id} or account in ('ID', 'MY') and transaction_id = ${id})
      and reference is not null
    union select ${ofOperation(sql)} from chain_relayer.operation o
    where id = ${id} or kind in ('send', 'giveback') and cause = ${id}`
}

/** Selects the payment or cash-out of an operation's cause, or the operation itself. */
const ofOperation = (sql: Sql) => sql`
  case when o.cause ~ '^pay_' then 'payment' when o.kind in ('take', 'return') then 'cashout'
    else 'operation' end,
  case when o.cause ~ '^pay_' then substring(o.cause from '^pay_[A-Za-z0-9_-]{22}')
    when o.kind in ('take', 'return') then o.cause else o.id end`

/** Finds items by a transaction that we signed or the books recorded, or by a contract ref. */
const byTransaction = (sql: Sql, hash: string): Promise<Found[]> => sql<Found[]>`
  select kind, id from (
    select ${ofOperation(sql)} from chain_relayer.attempt a
    join chain_relayer.transaction t on t.lane = a.lane and t.nonce = a.nonce
    join chain_relayer.operation o on t.operation_ids ? o.id
    where a.hash = ${hash}
    union select case when left(n.item, 4) = 'pay_' then 'payment' else 'cashout' end, n.item
    from books.names n
    where n.key = ${hash}
      or n.key in (select key from books.chain_moves where tx_hash = ${hash} and key is not null)
    union select 'operation', operation_id from chain_relayer.giveback_request
    where tx_hash = ${hash} and operation_id is not null
  ) found (kind, id)`

async function byAuthorization(sql: Sql, id: string): Promise<Found[]> {
  const [wallet = '', nonce = ''] = id.split(':')
  return sql<Found[]>`
    select 'cashout' as kind, id from payouts.payouts
    where authorizer = ${wallet} and authorization_nonce = ${nonce}
    union select ${ofOperation(sql)} from chain_relayer.operation o
    where kind in ('send', 'take') and wallet = ${wallet} and authorization_nonce = ${nonce}
    union select 'cashout', item from books.names where key = ${id}`
}

/** Returns `transaction:log` of transfers, as the books and the commands name them. */
async function logsOf(sql: Sql, hash: string): Promise<string[]> {
  const found = await sql<{ name: string }[]>`
    select tx_hash || ':' || log_index as name from books.chain_moves where tx_hash = ${hash}`
  return found.map(({ name }) => name)
}

async function itemOfBreak(sql: Sql, number: string): Promise<string | undefined> {
  const [found] = await sql<{ item: string }[]>`
    select item from books.breaks where id = ${number}`
  return found?.item
}

async function idsInMessage(sql: Sql, id: string): Promise<string[]> {
  if (!id.startsWith('msg_')) return []
  const found = await Promise.all(
    messengers.map(
      (schema) => sql<{ payload: Record<string, unknown> }[]>`
        select payload from ${sql(schema)}.outbox where id = ${id}`,
    ),
  )
  const names = ['paymentId', 'payoutId', 'refId', 'operationId'] as const
  return found
    .flat()
    .flatMap(({ payload }) => names.flatMap((name) => payload[name] ?? []))
    .map(String)
}
