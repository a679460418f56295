import type { Payout } from '../records'

/** Next stage of a payout, `afterMs` after its last change. */
export type PayoutStage = {
  readonly status: Payout['status']
  readonly failureCode: string | null
  readonly afterMs: number
}

// Failures by account number of the provider's test mode. The last one is documented only for an older API.
const failures = new Map([
  ['123456', 'TEMPORARY_TRANSFER_ERROR'],
  ['999999', 'REJECTED_BY_CHANNEL'],
  ['121212', 'INVALID_DESTINATION'],
  ['98018521', 'TRANSFER_ERROR'],
])
const staysAccepted = '131313'
const staysRequested = '141414'
const reversedAfterSuccess = '654321'

type Planned = Pick<Payout, 'status' | 'accountNumber' | 'channelCode' | 'unfunded'>

/** Returns the next stage. `settleMs` is the time from requested to paid. */
export function planNext(
  { status, accountNumber, channelCode, unfunded }: Planned,
  settleMs: number,
): PayoutStage | null {
  const halfMs = Math.floor(settleMs / 2)
  switch (status) {
    case 'ACCEPTED':
      if (accountNumber === staysAccepted) return null
      return { status: 'REQUESTED', failureCode: null, afterMs: halfMs }
    case 'REQUESTED': {
      if (unfunded) return { status: 'FAILED', failureCode: 'INSUFFICIENT_BALANCE', afterMs: settleMs - halfMs }
      if (accountNumber === staysRequested) return null
      // Bank Rakyat Indonesia stores these numbers with a leading zero and rejects them without it.
      const lacksZero = channelCode === 'ID_BRI' && accountNumber.length === 14
      const failureCode = failures.get(accountNumber) ?? (lacksZero ? 'INVALID_DESTINATION' : null)
      const outcome = failureCode ? 'FAILED' : 'SUCCEEDED'
      return { status: outcome, failureCode, afterMs: settleMs - halfMs }
    }
    case 'SUCCEEDED':
      if (accountNumber !== reversedAfterSuccess) return null
      return { status: 'REVERSED', failureCode: null, afterMs: settleMs }
    default:
      return null
  }
}
