import type { RefundStatus } from '../provider'

// Refunds, disputes, rows of the list and the charge itself may report late, incompletely or in
// contradiction, so `backOf` evaluates all reports of a charge at once.

/**
 * Origins of reports. `ordered` is a refund that we ordered, `chargeback` a dispute by the payer's bank, and
 * `void` a charge that no longer reads as succeeded.
 */
export const reportOrigins = ['refund', 'ordered', 'chargeback', 'void'] as const
export type ReportOrigin = (typeof reportOrigins)[number]

export type Report = {
  /** Id of the refund or dispute, or of another source with a prefix. */
  readonly id: string
  readonly origin: ReportOrigin
  /** Status at the provider. `succeeded` means that the money is gone, `dead` that it is not and will not be. */
  readonly status: RefundStatus
  readonly refundedMinor: bigint | null
  /**
   * Refund or dispute that a row of the list names; null if the row names none that can be found. Of a dispute itself, the
   * charge that was named as its own; null if none was. Of a doubt, the dispute that it is about.
   */
  readonly objectId: string | null
}

const listedPrefix = 'listed:'
const chargebackPrefix = 'chargeback:'
/** Returns the id of a report that has no refund object, from the id of its row in the provider's list. */
export const listedId = (transactionId: string): string => `${listedPrefix}${transactionId}`
/** Returns the id of the report of a chargeback in the list. The report of a dispute has the id of the dispute. */
export const chargebackId = (transactionId: string): string => `${chargebackPrefix}${transactionId}`
/**
 * Returns the id of the report of a transaction that took money of several payments at once, for each payment after the
 * first. The report of the first has the id of `chargebackId`.
 */
export const shareId = (transactionId: string, paymentId: string): string =>
  `${chargebackId(transactionId)}:${paymentId}`
/** Returns true for the report of a row in the list, which is news of what another report is about. */
export const isRow = ({ id }: Pick<Report, 'id'>): boolean =>
  id.startsWith(listedPrefix) || id.startsWith(chargebackPrefix)
/** Returns true for the report of a dispute itself. */
export const isDispute = ({ id, origin }: Pick<Report, 'id' | 'origin'>): boolean =>
  origin === 'chargeback' && !isRow({ id })
/**
 * Returns true if the provider, a row of the list or an operator has named the charge of a dispute. Otherwise our reference
 * alone has led to it, and may be about a second charge that is not known yet.
 */
export const isChargeNamed = ({
  objectId,
  providerPaymentId,
}: Pick<Report, 'objectId'> & { readonly providerPaymentId: string }): boolean => objectId === providerPaymentId
const voidPrefix = 'void:'
export const voidId = (id: string): string => voidPrefix + id
/** Returns the id of what a report is about: that of a doubt about an object leads to the object. */
export const subjectOf = ({ id, origin }: Pick<Report, 'id' | 'origin'>): string =>
  origin === 'void' && id.startsWith(voidPrefix) ? id.slice(voidPrefix.length) : id

/** Returns true if the stored report is at least as final as `status`; see `recordReport`. */
export const contains = (stored: RefundStatus | undefined, status: RefundStatus | undefined) =>
  stored === status || (stored === 'succeeded' && status !== undefined && isOpen({ status }))

/** Interval at which an open refund or dispute is asked for, in ms. */
const openMs = 3_600_000
/** Time after which a decision is read once more, in ms: longer than any answer of the provider is old. */
export const confirmMs = 120_000

type Said = Pick<Report, 'status' | 'refundedMinor'>

/** Returns the time in ms from news of a refund or dispute until it is asked for again. */
export const lookAfterNewsMs = ({ status }: Pick<Said, 'status'>): number => (isOpen({ status }) ? openMs : confirmMs)

/** Time in ms for which one that was decided, and that a look does not find, is asked for: the provider may hide it for a while. */
const missedMaxMs = 86_400_000

/** Returns the time in ms after which it is asked for again if a look did not find it; null means never. */
export function lookAfterMissMs({ status }: Pick<Said, 'status'>, unchangedMs: number): number | null {
  if (isOpen({ status })) return openMs
  // What cannot be found any more stays as it was decided.
  return unchangedMs > missedMaxMs ? null : Math.min(openMs, Math.max(confirmMs, unchangedMs))
}

/**
 * Returns the time in ms after which it is asked for again after a look; null means never. A decision is asked for until a
 * look reads it as it is stored: the answer to the news may have been one from before.
 */
export function lookAfterLookMs({ status, refundedMinor }: Said, before: Said | undefined): number | null {
  if (isOpen({ status }) && before?.status !== 'succeeded') return openMs
  const isConfirmed = before?.status === status && before.refundedMinor === refundedMinor
  return isConfirmed ? null : confirmMs
}

/** Amounts in the smallest unit of the charge's currency. */
export type Back = {
  /** Amount that went back. */
  readonly goneMinor: bigint
  /**
   * The part of it that refunds which we ordered account for. A void charge, or a row that names no refund, may be about the
   * same money, and is counted once: as that of our refund.
   */
  readonly orderedMinor: bigint
  /** Amount that will have gone back if every open refund and dispute succeeds. */
  readonly mayGoMinor: bigint
  /** The part of the open refunds that we ordered. */
  readonly orderedOpenMinor: bigint
  /** `mayGoMinor` if those fail: a charge in doubt may be void without them. */
  readonly mayGoOtherwiseMinor: bigint
  /** True if more may be on its way back: a report is pending, disputed, or in an unrecognised status. */
  readonly isOpen: boolean
}

type Move = {
  readonly status: RefundStatus
  readonly minor: bigint | null
  readonly isListed: boolean
  readonly isOrdered: boolean
}

/**
 * Returns the money that went back, from all reports of one charge. An amount that is inexact or in another
 * currency counts as all that is left. A row that names no known refund may stand for one of the refunds that
 * no row names, so the larger of the two sums counts. Likewise, a chargeback in the list may be what a dispute took.
 */
export function backOf(reports: readonly Report[], paidMinor: bigint): Back {
  const refunds = movesOf(reports.filter(({ origin }) => origin === 'refund' || origin === 'ordered'))
  const disputes = movesOf(reports.filter(({ origin }) => origin === 'chargeback'))
  const voids = reports.filter(({ origin }) => origin === 'void').map(alone)
  const moves = [refunds, disputes].flatMap(({ ofObjects, ofRows }) => [...ofObjects, ...ofRows])

  const knownOf = (counts: (move: Move) => boolean): bigint => sumOf(refunds, counts) + sumOf(disputes, counts)
  const withInexact = (knownMinor: bigint, counts: (move: Move) => boolean): bigint =>
    moves.filter(counts).some(({ minor }) => minor === null) ? larger(knownMinor, paidMinor) : knownMinor
  const takenOf = (counts: (move: Move) => boolean): bigint => withInexact(knownOf(counts), counts)
  const voidOf = (counts: (move: Move) => boolean): bigint =>
    voids.filter(counts).reduce((most, one) => larger(most, one.minor ?? paidMinor), 0n)
  const mayGo = (move: Move) => isGone(move) || isOpen(move)
  const isOrderedOpen = (move: Move) => move.isOrdered && isOpen(move)
  // A row that names no refund may stand for one that we ordered, so those are subtracted instead of left out.
  const otherwiseMinor = knownOf(mayGo) - knownOf(isOrderedOpen)
  return {
    goneMinor: larger(takenOf(isGone), voidOf(isGone)),
    orderedMinor: takenOf((move) => move.isOrdered && isGone(move)),
    mayGoMinor: larger(takenOf(mayGo), voidOf(mayGo)),
    orderedOpenMinor: takenOf(isOrderedOpen),
    mayGoOtherwiseMinor: larger(
      withInexact(otherwiseMinor, (move) => mayGo(move) && !isOrderedOpen(move)),
      voidOf(mayGo),
    ),
    isOpen: [...moves, ...voids].some(isOpen),
  }
}

/**
 * Splits the refunds of a charge of which only a part counts. They count for the rest, `restMinor`, first: the rest belongs
 * to the payer, and the part that counts was applied. Those that we ordered come before all others, because the rest is what
 * they return.
 */
export function splitBack(back: Back, restMinor: bigint): { own: Back; rest: Pick<Back, 'goneMinor' | 'mayGoMinor'> } {
  const beyond = (minor: bigint) => (minor > restMinor ? minor - restMinor : 0n)
  const goneMinor = beyond(back.goneMinor)
  const mayGoMinor = beyond(back.mayGoMinor)
  const orderedMinor = beyond(back.orderedMinor)
  const orderedOpenMinor = beyond(back.orderedMinor + back.orderedOpenMinor) - orderedMinor
  const mayGoOtherwiseMinor = beyond(back.mayGoOtherwiseMinor)
  return {
    own: { goneMinor, orderedMinor, mayGoMinor, orderedOpenMinor, mayGoOtherwiseMinor, isOpen: back.isOpen },
    rest: { goneMinor: back.goneMinor - goneMinor, mayGoMinor: back.mayGoMinor - mayGoMinor },
  }
}

/** Moves of one kind: of the refunds or disputes themselves, merged with their rows, and of rows that name none of them. */
type Moves = { readonly ofObjects: readonly Move[]; readonly ofRows: readonly Move[] }

function movesOf(reports: readonly Report[]): Moves {
  const objects = reports.filter((one) => !isRow(one))
  const rows = reports.filter(isRow)
  return {
    ofObjects: objects.map((object) => merged(object, rows.filter(names(object)))),
    ofRows: rows.filter((row) => !objects.some((object) => names(object)(row))).map((row) => merged(row, [])),
  }
}

function sumOf({ ofObjects, ofRows }: Moves, counts: (move: Move) => boolean): bigint {
  const sum = (some: readonly Move[]) => some.filter(counts).reduce((total, { minor }) => total + (minor ?? 0n), 0n)
  return (
    sum(ofObjects.filter(({ isListed }) => isListed)) +
    larger(sum(ofObjects.filter(({ isListed }) => !isListed)), sum(ofRows))
  )
}

const names = (object: Report) => (row: Report) => row.objectId === object.id
const isGone = ({ status }: Move): boolean => status === 'succeeded'
/** Returns true if the money of a report may still be on its way back. */
export const isOpen = ({ status }: Pick<Report, 'status'>): boolean =>
  // guard: a hold does not end while a refund or dispute is open
  status === 'pending' || status === 'unknown'

/**
 * Merges a refund or dispute with its rows. If they contradict each other, the money counts as gone if any says so,
 * otherwise as on its way.
 */
function merged(refund: Report, rows: readonly Report[]): Move {
  const moves = [refund, ...rows].map(alone)
  const status = moves.find(isGone)?.status ?? moves.find(isOpen)?.status ?? refund.status
  const known = moves.flatMap(({ minor }) => minor ?? [])
  const minor = known.length === 0 ? null : known.reduce(larger)
  return { status, minor, isListed: rows.length > 0, isOrdered: moves.some(({ isOrdered }) => isOrdered) }
}

const alone = ({ status, refundedMinor: minor, origin }: Report): Move => ({
  status,
  minor,
  isListed: false,
  isOrdered: origin === 'ordered',
})

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
