import type { Limits } from '#platform/metrics/state-limits'
import { fields } from '../../services/chain-relayer/config'
import { limitsOf as operationLimits } from '../../services/chain-relayer/operations/operation'
import { limits as identityLimits } from '../../services/gateway/identity/identity'
import { limits as paymentLimits } from '../../services/payments/payment'
import { limits as cashoutLimits } from '../../services/payouts/cashout'

/** Every service with a lifecycle and its limits, in the order of the runbook. */
export const stateLimits: readonly (readonly [service: string, limits: Limits<string>])[] = [
  ['payments', paymentLimits],
  ['payouts', cashoutLimits],
  ['chain-relayer', operationLimits(Number(fields.OLDEST_ALARM_MS.fallback))],
  ['gateway', identityLimits],
]
