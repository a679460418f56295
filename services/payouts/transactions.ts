import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import {
  type Listing,
  type ListingSettings,
  type Once,
  startReadingList,
} from '#shared/provider/listing'
import { noneOfItsForm, ProviderUnknown } from '#shared/provider/problem'
import type { Listed, ListedStatus } from '#shared/provider/transactions'
import { bookListed } from './books/book'
import { apiOf, type Cashout, findCashout, findPaidAs } from './cashout.store'
import type { Context } from './context'
import type { Evidence, PayoutStatus } from './provider'
import { decisiveOf, receiveEvidence } from './receive'
import { inbox, listings, recordAnomaly } from './schema.store'

// A payout whose webhook was lost, a bank that sends money back weeks later, a payout that nobody
// here ordered: the provider's list of transactions has them all. Each row names a payout, which is
// asked for and received in the same way as one that a webhook names.

/** Reads the list as often as configured, until disposed. */
export const startListing = (context: Context, settings: ListingSettings) =>
  startReadingList(payoutListing(context), settings, context.poke)

/** Payouts leave from the Indonesian account alone. */
export const payoutListing = (context: Context): Listing => ({
  ...context,
  ...{ listings, inbox, consumer: 'payouts-list', accounts: ['ID'] },
  list: (_, updatedFrom) => context.provider.listTransactions(updatedFrom),
  receive: (_, row, once) => receiveRow(context, row, once),
})

async function receiveRow(context: Context, row: Listed, once: Once): Promise<void> {
  const own = await ownerOf(context, row)
  // The list was asked for payouts; a type that we do not know may be one, if it is about ours.
  if (row.type !== 'payout' && !(row.type === 'unknown' && own)) return
  const found = await evidenceOf(context, row, own)
  if (found.length === 0) return once((tx) => noteUnmatched(tx, context, row))
  if (!found.some(({ status }) => hasComeAsFar(row.status, status)))
    throw new ProviderUnknown(`the list and the payout differ: ${row.status}, ${found[0]!.word}`)
  const deciding = await decisiveOf(context, found)
  await once(async (tx) => {
    for (const evidence of deciding) await receiveEvidence(tx, context, evidence)
  })
  failpoint('payouts:row-of-list-received')
}

/** Our cash-out that a row is about: by the provider's id of it, else by our reference on it. */
const ownerOf = (
  { database }: Context,
  { productId, reference }: Listed,
): Promise<Cashout | undefined> =>
  database.read(
    async (db) =>
      (productId ? await findPaidAs(db, productId) : undefined) ??
      (reference ? await findCashout(db, reference) : undefined),
  )

/**
 * What the provider says of the payout itself. Empty only for one that is not ours and that it does
 * not know; throws when it cannot be asked, or does not know what the list has of ours.
 */
async function evidenceOf(
  { provider }: Context,
  { productId }: Listed,
  own: Cashout | undefined,
): Promise<readonly Evidence[]> {
  const named = productId ? await provider.find(productId).catch(noneOfItsForm) : undefined
  if (named) return [named]
  if (!own) return []
  const found = await provider.findByReference(own.id, apiOf(own, provider.api))
  if (found.length > 0) return found
  throw new ProviderUnknown('the list has a payout of ours that no look-up finds')
}

/** The list may run ahead of the payout itself: then nothing is believed before both agree. */
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
