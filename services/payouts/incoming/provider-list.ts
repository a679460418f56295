import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import {
  type Listing,
  type ListingSettings,
  type Once,
  receivedOnce,
  startReadingList,
} from '#shared/provider/listing'
import { noneOfItsForm, ProviderUnknown } from '#shared/provider/problem'
import type { Listed, ListedStatus } from '#shared/provider/transactions'
import { findCashout, findPaidAs } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { bookFoundRow, bookListed } from '../ledger/book'
import type { Evidence, PayoutStatus } from '../provider'
import { inbox, listings, recordAnomaly } from '../schema.store'
import { decisiveOf, findPayouts, receiveEvidence } from './receive'

// The list shows payouts whose webhook was lost, returns by a bank weeks later, and payouts that we did
// not order.

export const startListing = (context: Context, settings: ListingSettings) =>
  startReadingList(payoutListing(context), settings, context.poke)

/** Only the Indonesian account makes payouts. */
export const payoutListing = (context: Context): Listing => ({
  ...context,
  ...{ listings, accounts: ['ID'] },
  list: (_, updatedFrom) =>
    context.provider.listTransactions(context.clock() - updatedFrom.getTime()),
  ...receivedOnce(context, { inbox, consumer: 'payouts-list' }, (_, row, once) =>
    receiveRow(context, row, once),
  ),
})

async function receiveRow(context: Context, row: Listed, once: Once): Promise<void> {
  const own = await ownerOf(context, row)
  // An unrecognised type may be a payout if the row names one of ours.
  if (row.type !== 'payout' && !(row.type === 'unknown' && own)) return
  const found = await evidenceOf(context, row, own)
  if (found.length === 0) return once((tx) => noteUnmatched(tx, context, row))
  if (!found.some(({ status }) => hasComeAsFar(row.status, status)))
    throw new ProviderUnknown(`list and payout disagree: ${row.status}, ${found[0]!.word}`)
  const deciding = await decisiveOf(context, found)
  await once(async (tx) => {
    await bookFoundRow(tx, row)
    for (const evidence of deciding) await receiveEvidence(tx, context, evidence)
  })
  failpoint('payouts:row-of-list-received')
}

const ownerOf = (
  { database }: Context,
  { productId, reference }: Listed,
): Promise<Cashout | undefined> =>
  database.read(
    async (db) =>
      (productId ? await findPaidAs(db, productId) : undefined) ??
      (reference ? await findCashout(db, reference) : undefined),
  )

/** Returns an empty list only for a payout that is neither ours nor found. */
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

/** The list may be ahead of the payout's own endpoint. */
function hasComeAsFar(row: ListedStatus, payout: PayoutStatus): boolean {
  switch (row) {
    case 'pending':
    case 'unknown':
      return true
    case 'succeeded':
      return payout !== 'pending'
    case 'failed':
    case 'voided':
    case 'reversed':
      return payout === 'refused' || payout === 'reversed'
  }
}

async function noteUnmatched(tx: Tx, { log }: Context, row: Listed): Promise<void> {
  const { transactionId: object, status, currency, amountMinor } = row
  const says = `${status} ${currency ?? '?'} ${amountMinor ?? '?'}`
  if (await recordAnomaly(tx, { kind: 'payout_unknown', object, says }))
    log.warn({ object, says }, 'provider transaction does not match any payout')
  await bookListed(tx, row)
}
