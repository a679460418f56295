import { type ChainFacts, isFrozenAt, type UnderRef } from '../chain-facts'
import type { Calm, Evidence, Ledger } from '../evidence'
import type { Doubt, PaymentDeed } from '../record'

/**
 * Time of calm in ms within which the services act on money that is going back: longer than the lease of an instance that was
 * killed just before.
 */
export const actsWithinMs = 45_000

/** Returns when the services must have acted on what they could know from `fromMs` on, by the first calm that is long enough. */
export const actedBy = (fromMs: number, calms: readonly Calm[]): number =>
  Math.min(
    ...calms.map((calm) => {
      const atMs = Math.max(calm.fromMs, fromMs) + actsWithinMs
      return atMs <= calm.toMs ? atMs : Number.POSITIVE_INFINITY
    }),
  )
/** Blocks have times in whole seconds. */
const secondMs = 1_000

/** A payment with a known promise, and the chain's events under each of its refs. */
export type Known = {
  readonly id: string
  readonly deed: PaymentDeed
  readonly status: string
  readonly parts: readonly UnderRef[]
  readonly capturedMinor: bigint
}

/**
 * Checks by the chain's clock when the services acted on money that was going back: none of it may be free, and a loss that was
 * known during the hold must be revoked. For a wallet whose later payments covered a loss, only the sums are compared.
 */
export function judgeDoubts(
  payments: readonly Known[],
  { chain, calms }: Pick<Evidence, 'chain' | 'calms'>,
  ledger: Ledger,
): void {
  const covered = new Set(payments.filter(isCovering).map(({ deed }) => deed.wallet))
  for (const payment of payments) {
    if (payment.deed.doubts.length === 0 || payment.capturedMinor === 0n) continue
    ledger.count('payments in doubt')
    if (!covered.has(payment.deed.wallet)) judgeFreed(payment, chain, calms, ledger)
    judgeRevoked(payment, calms, ledger)
  }
}

/**
 * Returns true if a payment gave less than its promise, beyond what of its own money was going back then: the rest covered an
 * earlier loss of its wallet, which may have been free again from then on.
 */
function isCovering(payment: Known): boolean {
  const { deed, parts, status, capturedMinor } = payment
  if (capturedMinor === 0n) return false
  const given = parts[0]!.history.flatMap((one) => (one.kind === 'given' ? [one] : []))
  const [first] = given
  if (!first) return !['refunded', 'expired', 'awaiting_payment', 'replaced'].includes(status)
  const open = deed.doubts.filter(
    ({ fromMs, toMs }) => fromMs <= first.atMs && first.atMs < (toMs ?? Number.POSITIVE_INFINITY),
  )
  return sumOf(given.map(({ micro }) => micro)) + 1n < worthOf(payment, moneyIn(open, payment))
}

/** Checks the moments at which money in doubt could become free: once the services must know, at credits, at ends of holds. */
function judgeFreed(payment: Known, chain: ChainFacts, calms: readonly Calm[], ledger: Ledger): void {
  const { id, deed, parts } = payment
  const history = parts.flatMap((part) => part.history)
  for (const { fromMs, toMs } of deed.doubts) {
    const knownMs = actedBy(fromMs, calms)
    const moves = history.flatMap((one) =>
      one.kind === 'given' ? [one.atMs] : one.kind === 'held' ? [one.untilMs + secondMs] : [],
    )
    const moments = [knownMs, ...moves.filter((atMs) => atMs > knownMs)].filter(
      (atMs) => atMs < (toMs ?? Number.POSITIVE_INFINITY) && atMs <= chain.readAtMs,
    )
    for (const atMs of moments) {
      const freeMicro = isFrozenAt(chain, deed.wallet, atMs) ? 0n : freeAt(parts, atMs)
      const allowedMicro = worthOf(payment, inDoubtAt(payment, atMs, calms)) + 1n
      if (freeMicro <= allowedMicro) continue
      const afterS = Math.round((atMs - fromMs) / secondMs)
      const frozen = chain.freezes.find((one) => one.wallet === deed.wallet && one.frozen && one.atMs > atMs)
      const later = frozen ? `frozen ${Math.round((frozen.atMs - atMs) / secondMs)} s later` : 'not frozen later'
      const finding = `${id} (${deed.fate}) had ${freeMicro} free ${afterS} s after its money was going back, ${later}`
      return void ledger.find(finding, atMs)
    }
  }
}

/**
 * Checks that a loss which was known during the hold was revoked. A freeze is for money that the chain cannot take back. While it
 * is open whether the money comes back, the hold is extended instead, for which `judgeFreed` asks.
 */
function judgeRevoked(payment: Known, calms: readonly Calm[], ledger: Ledger): void {
  const { id, deed, parts, capturedMinor } = payment
  if (!deed.isPlayed || deed.requires.cameBack || deed.requires.money === 'undone') return
  const endMs = Math.max(
    0,
    ...parts.flatMap(({ history }) => history.flatMap((one) => (one.kind === 'held' ? one.untilMs : []))),
  )
  const inTime = deed.doubts.flatMap(({ minor, goneMs, toMs }) =>
    goneMs !== null && toMs === null && actedBy(goneMs, calms) < endMs ? [{ minor, goneMs }] : [],
  )
  if (inTime.length === 0) return
  const goneMinor = inTime.some(({ minor }) => minor === null)
    ? capturedMinor
    : sumOf(inTime.map(({ minor }) => minor!))
  const leftMicro = parts.reduce((sum, part) => sum + sumOf(part.added) + sumOf(part.repaid) - sumOf(part.revoked), 0n)
  const allowedMicro = worthOf(payment, goneMinor) + 1n
  if (leftMicro <= allowedMicro) return
  const early = Math.round((endMs - Math.min(...inTime.map(({ goneMs }) => goneMs))) / secondMs)
  ledger.find(
    `${id} (${deed.fate}) went back ${early} s before the end of its hold, and ${leftMicro} was not revoked`,
    endMs,
  )
}

/** Returns the money in minor units of which the services must know by then that it is going back, at most all. */
function inDoubtAt(payment: Known, atMs: number, calms: readonly Calm[]): bigint {
  const open = payment.deed.doubts.filter(
    ({ fromMs, toMs }) => actedBy(fromMs, calms) <= atMs && atMs < (toMs ?? Number.POSITIVE_INFINITY),
  )
  return moneyIn(open, payment)
}

/** Returns the money of these doubts in minor units, at most all of the payment. */
function moneyIn(doubts: readonly Doubt[], { capturedMinor }: Known): bigint {
  if (doubts.some(({ minor }) => minor === null)) return capturedMinor
  const minor = sumOf(doubts.map((one) => one.minor!))
  return minor < capturedMinor ? minor : capturedMinor
}

/**
 * Returns the AUSD (10⁻⁶, rounded up) that is left of a promise if `goneMinor` of its money is gone. Of money beyond the promise,
 * only the provider and the services know which part it is, so all that goes back may be of it.
 */
function worthOf({ deed, capturedMinor }: Known, goneMinor: bigint): bigint {
  const { ausdMicro, fiatMinor } = deed.answer!
  const leftMinor = goneMinor < capturedMinor ? capturedMinor - goneMinor : 0n
  const promisedMinor = deed.plan.pays === 'twice' ? fiatMinor : capturedMinor
  const countsMinor = leftMinor < promisedMinor ? leftMinor : promisedMinor
  return (ausdMicro * countsMinor + promisedMinor - 1n) / promisedMinor
}

/** Returns the AUSD (10⁻⁶) that these refs gave by a time and that no hold kept then. */
function freeAt(parts: readonly UnderRef[], atMs: number): bigint {
  return parts.reduce((sum, { history }) => {
    const past = history.filter((one) => one.atMs <= atMs)
    const hold = past.findLast((one) => one.kind === 'held')
    if (hold?.kind === 'held' && hold.untilMs > atMs) return sum
    return past.reduce((net, one) => {
      if (one.kind === 'held') return net
      return one.kind === 'given' ? net + one.micro : net - one.micro
    }, sum)
  }, 0n)
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n)
