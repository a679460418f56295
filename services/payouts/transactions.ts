import type { Clock } from '#shared/clock'
import type { Database, Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import type { Log } from '#shared/log'
import {
  type Listing,
  type ListingSettings,
  type Once,
  startReadingList,
} from '#shared/provider/listing'
import { ProviderUnknown } from '#shared/provider/problem'
import type { Listed, ListedStatus } from '#shared/provider/transactions'
import { recordAnomaly } from './anomaly.store.ts'
import { type Cashout, findCashout, findPaidAs } from './cashout.store.ts'
import { decisive, type Evidence } from './cashout.ts'
import type { PayoutProvider, PayoutStatus } from './payout-provider.ts'
import { inbox, listings } from './schema.store.ts'
import { recordEvidence } from './status.store.ts'

// A payout whose webhook was lost, a bank that sends money back weeks later, a payout that nobody
// here ordered: the provider's list of transactions has them all. Each row says where to look; what
// is found there goes through the same verb as what a webhook names.

export type Received = {
  readonly database: Database
  readonly provider: PayoutProvider
  readonly sweepAfterMs: number
  readonly clock: Clock
  readonly log: Log
}

/** Reads the list as often as configured, until disposed. */
export const startListing = (means: Received & { poke: () => void }, settings: ListingSettings) =>
  startReadingList(payoutListing(means), settings, means.poke)

/** Payouts leave from the Indonesian account alone. */
export const payoutListing = (means: Received): Listing => ({
  ...means,
  ...{ listings, inbox, consumer: 'payouts-list', accounts: ['ID'] },
  list: (_, updatedFrom) => means.provider.listTransactions(updatedFrom),
  receive: (_, row, once) => receiveRow(means, row, once),
})

async function receiveRow(means: Received, row: Listed, once: Once): Promise<void> {
  const own = await ownerOf(means, row)
  // The list was asked for payouts; a word that we do not know may be one, if it is about ours.
  if (row.type !== 'payout' && !(row.type === 'unknown' && own)) return
  const found = await evidenceOf(means, row, own)
  if (found.length === 0) return once((tx) => noteUnmatched(tx, means, row))
  if (!found.some(({ status }) => hasComeAsFar(row.status, status)))
    throw new ProviderUnknown(`the list and the payout differ: ${row.status}, ${found[0]!.word}`)
  await once(async (tx) => {
    for (const evidence of decisive(found)) await recordEvidence(tx, evidence, means)
  })
  failpoint('payouts:status-committed')
}

/** Our cash-out that a row is about: by the provider's id of it, else by our reference on it. */
const ownerOf = (
  { database }: Received,
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
  { provider }: Received,
  { productId }: Listed,
  own: Cashout | undefined,
): Promise<readonly Evidence[]> {
  const named = productId ? await provider.find(productId).catch(noneOfItsForm) : undefined
  if (named) return [named]
  if (!own) return []
  const found = await provider.findByReference(own.id)
  if (found.length > 0) return found
  throw new ProviderUnknown('the list has a payout of ours that no look-up finds')
}

/** An id of another form than those of payouts is answered 400: our reference is asked for then. */
function noneOfItsForm(error: unknown): undefined {
  if (error instanceof ProviderUnknown && error.refusal?.status === 400) return undefined
  throw error
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

async function noteUnmatched(tx: Tx, { log }: Received, row: Listed): Promise<void> {
  const { transactionId: object, status, currency, amountMinor } = row
  const says = `${status} ${currency ?? '?'} ${amountMinor ?? '?'}`
  if (await recordAnomaly(tx, { kind: 'payout_unknown', object, says }))
    log.warn({ object, says }, 'transaction of the list is no payout that we know')
}
