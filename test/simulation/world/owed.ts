import type { Payment } from '#infra/sandbox/records'
import { least } from '../chain/line'
import { orderedMinorOf, refundedOf } from './charges'
import type { Surroundings } from './services'

type Given = {
  readonly id: string
  readonly fiatMinor: bigint
  readonly feeMinor: bigint
  /** Value of the whole payment, and what of it was given (10⁻⁶ AUSD). */
  readonly wholeMicro: bigint
  readonly givenMicro: bigint
}

/**
 * Checks what a wallet owes for a payment that was made once, as agreed: at most what others took of it, because refunds that
 * we ordered are our loss, and at least what the wallet was given for that.
 */
export function auditOwed({ provider, world }: Surroundings, payment: Given, own: Payment): string[] {
  const { id, fiatMinor, feeMinor, wholeMicro, givenMicro } = payment
  const goneMinor = refundedOf(provider.book, own)
  const orderedMinor = orderedMinorOf(provider.book, own)
  const lostMicro = world.rows.reversals.get(id)?.lostMicro ?? 0n
  const valueCeil = (minor: bigint) => ceil(wholeMicro * least(minor, fiatMinor), fiatMinor)
  const beyondMinor = goneMinor - least(goneMinor, fiatMinor)
  const beyondMicro = ceil(wholeMicro * beyondMinor, fiatMinor - feeMinor)
  const mostMicro = valueCeil(goneMinor - orderedMinor) + beyondMicro
  const leastMicro = beyondMicro + givenMicro - (wholeMicro - valueCeil(goneMinor)) - valueCeil(orderedMinor)
  if (orderedMinor > 0n && goneMinor > orderedMinor) world.saw('our own refund and others took money of one payment')
  if (lostMicro > mostMicro) return [`${id}: its wallet owes ${lostMicro}, although others took only ${mostMicro}`]
  return lostMicro < leastMicro ? [`${id}: its wallet owes ${lostMicro}, although others took ${leastMicro}`] : []
}

const ceil = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor
