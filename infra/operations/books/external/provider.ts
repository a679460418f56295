import { clockMs, openAccount } from '#infra/operations/restore/provider'
import type { Tx } from '#platform/db/open'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import { readBalance } from '#shared/provider/balance'
import type { ProviderClient } from '#shared/provider/client'
import { type Listed, listAllTransactions } from '#shared/provider/transactions'
import type { BooksContext } from '../context'
import { bookAccepted } from './accept'
import { recordBalance } from './balance.store'
import { bookItems } from './booking'
import { findCheckpoint, findReadTo, recordRead } from './checkpoint.store'
import { withJournal } from './journal.store'
import { accountOf, feeOf, openingOf } from './positions'
import { type ProviderMove, recordMoves } from './provider-move.store'

/** Time within which a changed row appears in the list. */
const lateMs = 2 * 3_600_000
const overlapMs = clockMs + lateMs
/** Interval of a deeper read, because a fee may appear in a row without a new change time. */
const deepEveryMs = 86_400_000
const deepMs = 7 * 86_400_000
/** Length of one step. Each step is committed, because the provider's rate limit may interrupt a first read. */
const stepMs = 86_400_000
const rowsMax = 500

export async function readProvider(context: BooksContext): Promise<void> {
  for (const account of providerAccounts) await readAccount(context, account)
}

async function readAccount(context: BooksContext, account: ProviderAccount): Promise<void> {
  const { database, place, clock } = context
  if (!place.provider) return
  const client = openAccount(place.provider, account)
  const began = await beginning(context, client)
  const sources = [`provider:${account}`, `provider:${account}:deep`] as const
  const [readTo, deepTo] = await Promise.all(sources.map((source) => database.read((db) => findReadTo(db, source))))
  const nowMs = clock()
  const isDeep = !deepTo || deepTo.getTime() + deepEveryMs <= nowMs
  const againMs = readTo ? readTo.getTime() - (isDeep ? deepMs : overlapMs) : 0
  const endMs = nowMs + overlapMs
  for (let fromMs = Math.max(began.getTime(), againMs); fromMs < endMs; fromMs += stepMs) {
    const toMs = Math.min(fromMs + stepMs, endMs)
    const window = { updatedFrom: new Date(fromMs), updatedTo: new Date(toMs) }
    const listed = await listAllTransactions(client, { types: [], ...window })
    const own = listed.filter(({ created }) => !created || created >= began)
    await keep(context, account, own, (tx) => recordRead(tx, sources[0], new Date(Math.min(toMs, nowMs))))
  }
  if (isDeep) await database.transaction((tx) => recordRead(tx, sources[1], new Date(nowMs)))
  const balance = {
    ...accountOf(account),
    amount: await readBalance(client),
    block: null,
    nonce: null,
  }
  await database.run((db) => recordBalance(db, { ...balance, readAt: new Date(clock()) }))
}

/**
 * Returns the start of an account's books: a day before our first row, with the balance at that time as capital.
 * Earlier movements are ignored.
 */
async function beginning(context: BooksContext, client: ProviderClient): Promise<Date> {
  const { database } = context
  const { account } = client
  const source = `opening:${account}`
  const recorded = await database.read((db) => findCheckpoint(db, source))
  if (recorded) return recorded.readTo
  const at = new Date(await firstMs(context, account))
  const lines = openingOf(account, await readBalance(client, { at }))
  return withJournal(database, async (tx) => {
    const earlier = await findCheckpoint(tx, source)
    if (earlier) return earlier.readTo
    const item = `opening:${accountOf(account).place}`
    await bookItems(tx, [item], (_, { lines: booked }) =>
      booked.length > 0 ? undefined : { event: 'opening balance', lines },
    )
    await recordRead(tx, source, at)
    return at
  })
}

/** Stores the rows of a window, and the checkpoint together with the last of them. */
async function keep(
  { database, clock }: BooksContext,
  account: ProviderAccount,
  listed: readonly Listed[],
  note: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  const readAt = new Date(clock())
  // A row that changed while pages were read may occur twice, and the later one wins.
  const rows = [...new Map(listed.map((row) => [row.transactionId, row])).values()]
  for (let start = 0; start === 0 || start < rows.length; start += rowsMax) {
    const some = rows.slice(start, start + rowsMax).map((row) => moveOf(account, row, readAt))
    await withJournal(database, async (tx) => {
      const moved = await recordMoves(tx, some)
      await bookFees(tx, moved)
      await bookAccepted(tx, moved)
      if (start + rowsMax >= rows.length) await note(tx)
    })
  }
}

/** Books the provider's fees, which no service books. */
async function bookFees(tx: Tx, moves: readonly ProviderMove[]): Promise<void> {
  const byItem = new Map(moves.map((move) => [`${move.account}:${move.transactionId}`, move]))
  await bookItems(tx, [...byItem.keys()], (item) => {
    const lines = feeOf(byItem.get(item)!)
    return lines && { event: 'fee', lines }
  })
}

async function firstMs({ sql, clock }: BooksContext, account: ProviderAccount): Promise<number> {
  const [first] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from min(at)) * 1000)::float8 as ms from (
      select min(created_at) as at from payments.payments where account = ${account}
      union all
      select min(created_at) from payouts.payouts where ${account} = 'ID'
    ) as firsts`
  return Math.floor(first?.ms ?? clock()) - 86_400_000
}

const moveOf = (account: ProviderAccount, row: Listed, readAt: Date) => ({
  account,
  transactionId: row.transactionId,
  type: row.type,
  status: row.status,
  productId: row.productId,
  currency: row.currency,
  amountMinor: row.amountMinor,
  cashflow: row.cashflow,
  feeMinor: row.feeMinor,
  unsettledReadAt: row.settlement === 'pending' ? readAt : null,
  settlesAt: row.settlement === 'pending' ? row.settlesAt : null,
  settledReadAt: row.settlement === 'settled' ? readAt : null,
  createdAt: row.created,
  changedAt: row.updated,
  readAt,
  reference: ownReference(row.reference),
})

/**
 * Returns the payment id of a reference. The provider appends `_` and the attempt to it, and references of our refunds
 * have the prefix `ordered-`.
 */
export function ownReference(reference: string | null): string | null {
  const [, id] = /^(?:ordered-)?(pay_[A-Za-z0-9_-]{22})(?:_.*)?$/s.exec(reference ?? '') ?? []
  return id ?? reference
}
