import type { Payout } from '../records'

/** The change a payout makes on its own, and how long after its last one. */
export type Step = {
  readonly status: Payout['status']
  readonly failureCode: string | null
  readonly afterMs: number
}

// Account numbers that choose how they end in the provider's test mode; the last one is known
// from an older interface only.
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

/** The next step of a payout, or `null` when it rests. `settleMs` is the way from asked to paid. */
export function nextStep(
  { status, accountNumber, channelCode, unfunded }: Planned,
  settleMs: number,
): Step | null {
  const halfMs = Math.floor(settleMs / 2)
  switch (status) {
    case 'ACCEPTED':
      if (accountNumber === staysAccepted) return null
      return { status: 'REQUESTED', failureCode: null, afterMs: halfMs }
    case 'REQUESTED': {
      if (unfunded)
        return { status: 'FAILED', failureCode: 'INSUFFICIENT_BALANCE', afterMs: settleMs - halfMs }
      if (accountNumber === staysRequested) return null
      // Bank Rakyat Indonesia stores these with a zero in front, and knows no others.
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
