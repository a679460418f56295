import { ageMs } from '#platform/clock'
import type { Db, Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { findBalances } from '#shared/ledger/journal.store'
import { type Listing, type ListingSettings, startReadingList } from '#shared/provider/listing'
import type { PayoutStatus } from '#shared/provider/payout'
import { noneOfItsForm, ProviderUnknown } from '#shared/provider/problem'
import type { Listed, ListedStatus } from '#shared/provider/transactions'
import { findOwners } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { answerAgeMaxMs, isFailure, oddities } from '../decide'
import { bookFoundRow, bookListed } from '../ledger/book'
import type { Evidence } from '../provider'
import { findAnomalies, journal, listings, recordAnomaly } from '../schema.store'
import { isPayout, isRowDone } from './is-row-done'
import { decisiveOf, factsOf, findPayouts, receiveEvidence } from './receive'

// The list shows payouts whose webhook was lost, returns by a bank weeks later, and payouts that we did not
// order. A row is decided again at each reading until the books agree with it, so that a wrong answer about
// its payout heals.

export const startListing = (context: Context, settings: ListingSettings) =>
  startReadingList(payoutListing(context), settings, context.poke)

/** Returns the listing of the Indonesian account, the only one that makes payouts. */
export const payoutListing = (context: Context): Listing => ({
  ...context,
  listings,
  accounts: ['ID'],
  list: (_, updatedFrom) => context.provider.listTransactions(context.clock() - updatedFrom.getTime()),
  done: (_, rows) => doneOf(context, rows),
  receive: (_, row) => receiveRow(context, row),
})

/** Returns the rows that the books agree with, and those of other products. */
async function doneOf(context: Context, rows: readonly Listed[]): Promise<Set<Listed>> {
  const { database, clock } = context
  const objects = rows.flatMap(({ transactionId, productId }) =>
    productId === null ? [transactionId] : [transactionId, productId],
  )
  const { owners, anomalies, suspense } = await database.read(async (db) => {
    const owners = await readOwners(db, rows)
    const items = [...objects, ...owners.flatMap(({ providerPayoutId }) => providerPayoutId ?? [])]
    return {
      owners,
      anomalies: await findAnomalies(db, [...oddities, 'payout_unknown'], objects),
      suspense: await findBalances(db, journal, { account: 'suspense', asset: 'IDR', items }),
    }
  })
  const ownerOf = ownerAmong(owners)
  const aboutObject = Map.groupBy(anomalies, ({ object }) => object)
  const anomaliesOf = (object: string | null) => aboutObject.get(object ?? '') ?? []
  const isDone = (row: Listed): boolean => {
    const own = ownerOf(row)
    const kinds = anomaliesOf(row.productId).map(({ kind }) => kind)
    return isRowDone(row, {
      own: own && factsOf(context, own),
      isRecordedUnmatched: kinds.includes('payout_unknown'),
      isRecordedOdd: kinds.some((kind) => kind !== 'payout_unknown'),
      wasLookedFor: anomaliesOf(row.transactionId).some(({ noticedAt }) => ageMs(noticedAt, clock()) >= answerAgeMaxMs),
      suspense,
    })
  }
  return new Set(rows.filter(isDone))
}

async function receiveRow(context: Context, row: Listed): Promise<void> {
  const { database } = context
  const { productId } = row
  const own = ownerAmong(await database.read((db) => readOwners(db, [row])))(row)
  if (!isPayout(row, own)) return
  const found = await evidenceOf(context, row, own)
  if (found.length === 0) {
    await database.transaction(async (tx) => {
      await recordUnmatched(tx, context, row)
      await bookListed(tx, row)
    })
    return
  }
  if (!found.some(({ status }) => hasComeAsFar(row.status, status)))
    throw new ProviderUnknown(`list and payout disagree: ${row.status}, ${found[0]!.word}`)
  const deciding = await decisiveOf(context, found)
  const ids = found.map(({ payoutId }) => payoutId)
  const isOfRow = ({ payoutId }: Evidence) => payoutId === productId || found.length === 1
  const listed = hasFailedIn(row.status) ? ({ isListedAsFailed: true } as const) : {}
  await database.transaction(async (tx) => {
    if (!ids.includes(productId ?? '')) await recordUnmatched(tx, context, row, own)
    await bookFoundRow(tx, row, ids)
    for (const evidence of deciding)
      await receiveEvidence(tx, context, isOfRow(evidence) ? { ...evidence, ...listed } : evidence)
  })
  failpoint('payouts:row-of-list-received')
}

const readOwners = (db: Db, rows: readonly Listed[]): Promise<Cashout[]> =>
  findOwners(
    db,
    rows.flatMap(({ reference }) => reference ?? []),
    rows.flatMap(({ productId }) => productId ?? []),
  )

/**
 * Returns a function that finds the cash-out of a row. The cash-out paid as the row's payout comes before the
 * one that the reference names.
 */
function ownerAmong(owners: readonly Cashout[]): (row: Listed) => Cashout | undefined {
  const byId = new Map(owners.map((own) => [own.id, own]))
  const byPayout = new Map(owners.map((own) => [own.providerPayoutId, own]))
  return ({ productId, reference }) => (productId ? byPayout.get(productId) : undefined) ?? byId.get(reference ?? '')
}

/** Fetches the payouts of a row. Returns an empty list only for a payout that is neither ours nor found. */
async function evidenceOf(
  context: Context,
  { productId }: Listed,
  own: Cashout | undefined,
): Promise<readonly Evidence[]> {
  const named = productId ? await context.provider.find(productId).catch(noneOfItsForm) : undefined
  if (named) return [named]
  if (!own) return []
  const found = await findPayouts(context, own)
  if (found.length > 0) return found
  throw new ProviderUnknown('the list has a payout of ours that lookups do not find')
}

/** Returns true if the payout is as far as its row; the list may be ahead of the payout's own endpoint. */
function hasComeAsFar(row: ListedStatus, payout: PayoutStatus): boolean {
  if (hasFailedIn(row)) return isFailure(payout)
  return row !== 'succeeded' || payout !== 'pending'
}

const hasFailedIn = (row: ListedStatus): boolean => row === 'failed' || row === 'voided' || row === 'reversed'

async function recordUnmatched(tx: Tx, { log }: Context, row: Listed, own?: Cashout): Promise<void> {
  const { transactionId: object, status, currency, amountMinor } = row
  const says = `${status} ${currency ?? '?'} ${amountMinor ?? '?'}`
  const payoutId = own?.id
  if (await recordAnomaly(tx, { kind: 'payout_unknown', object, says, payoutId }))
    log.warn({ object, says, payoutId }, 'provider transaction does not match any payout')
}
