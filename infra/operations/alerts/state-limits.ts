import type { AlarmLine } from '#platform/alarm-lines'
import type { Limits } from '#platform/metrics/state-limits'
import { fields } from '../../../services/chain-relayer/config'
import { limitsOf as operationLimits } from '../../../services/chain-relayer/operations/operation'
import { limits as identityLimits } from '../../../services/gateway/identity/identity'
import { limits as paymentLimits } from '../../../services/payments/payment'
import { limits as cashoutLimits } from '../../../services/payouts/cashout'

export type Limited = 'payment' | 'payout' | 'operation' | 'identity'

/** Limits of the states of each item that has a lifecycle, which `StateTooLong` reports, in the order of the runbook. */
export const stateLimits: Readonly<Record<Limited, { readonly service: string; readonly limits: Limits<string> }>> = {
  payment: { service: 'payments', limits: paymentLimits },
  payout: { service: 'payouts', limits: cashoutLimits },
  operation: { service: 'chain-relayer', limits: operationLimits(Number(fields.OLDEST_ALARM_MS.fallback)) },
  identity: { service: 'gateway', limits: identityLimits },
}

export type StateLimit = { readonly service: string; readonly state: string; readonly afterMs: number } & {
  readonly alarm: AlarmLine
  readonly steps: string
}

/** Every state with a limit. */
export const limitedStates: readonly StateLimit[] = Object.values(stateLimits).flatMap(({ service, limits }) =>
  Object.entries(limits).flatMap(([state, limit]) => ('alarm' in limit ? [{ service, state, ...limit }] : [])),
)
