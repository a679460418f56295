import type { PaymentState } from './payment'

/** A checkout that could not be opened may be tried again so long: longer would be a free rate. */
export const reopenMaxMs = 600_000
const orderRestMaxMs = 600_000
const lateRestMaxMs = 3_600_000
/** The provider repeats a webhook for a day; so long we ask for late money ourselves. */
const lateMoneyMs = 86_400_000

type Quiet = {
  readonly state: PaymentState
  /** How often the sweeper looked in this state. */
  readonly looks: number
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** On the chain, and still revocable there. */
  readonly onHold?: boolean
}

/** When to ask the authority about a payment that stays quiet; null when there is nothing to ask. */
export function nextLook(quiet: Quiet, nowMs: number, sweepAfterMs: number): Date | null {
  const doubling = (maxMs: number) => Math.min(maxMs, sweepAfterMs * 2 ** Math.min(quiet.looks, 20))
  switch (quiet.state) {
    case 'opening':
      return new Date(Math.max(nowMs, quiet.createdAt.getTime() + reopenMaxMs))
    case 'awaiting_payment':
      return new Date(nowMs + sweepAfterMs)
    case 'held':
    case 'repaid':
      // The first time at once: only the chain knows when the hold ends.
      return quiet.onHold ? new Date(nowMs + (quiet.looks === 0 ? 0 : sweepAfterMs)) : null
    case 'paid':
    case 'revoking':
      return new Date(nowMs + doubling(orderRestMaxMs))
    case 'expired':
    case 'replaced': {
      const endsMs = quiet.expiresAt === null ? 0 : quiet.expiresAt.getTime() + lateMoneyMs
      const lookMs = nowMs + doubling(lateRestMaxMs)
      return lookMs > endsMs ? null : new Date(lookMs)
    }
    default:
      return null
  }
}
