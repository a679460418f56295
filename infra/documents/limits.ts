import type { Limits } from '#platform/metrics/state-limits'
import { fields } from '../../services/chain-relayer/config'
import { limitsOf as operationLimits } from '../../services/chain-relayer/operations/operation'
import {
  type IdentityState,
  limits as identityLimits,
} from '../../services/gateway/identity/identity'
import { type PaymentState, limits as paymentLimits } from '../../services/payments/payment'
import { type CashoutState, limits as cashoutLimits } from '../../services/payouts/cashout'

export type Steps<State extends string> = { readonly [state in State]?: string }

export type StateLimits = {
  readonly service: string
  readonly limits: Limits<string>
  readonly steps: Steps<string>
}

const lateRate =
  '`bus micro stats pricing --json`, `dc logs pricing`; release a rate jump ([Rates](deploy.md#6-rates)).'
const holdEnd =
  '`dc logs payments`: provider or chain cannot be read. A longer `HOLD_SECONDS` needs a higher limit in the code.'
const relayer = 'Check the relayer.'

const payments: Steps<PaymentState> = {
  opening: '`dc logs payments`, Postgres, age of the outbox.',
  awaiting_payment:
    '`dc logs payments`: is the provider down, or `PROVIDER_REQUESTS_PER_MINUTE` too low?',
  expired: lateRate,
  replaced: lateRate,
  paid: relayer,
  held: holdEnd,
  repaid: holdEnd,
  revoking: `Refunded money stays usable until this is done. ${relayer}`,
  refunding:
    "Look up its reference in the provider's dashboard (`payments.refund_orders`). Some channels stay pending for days.",
}

const payouts: Steps<CashoutState> = {
  opening: '`dc logs payouts`, Postgres. Nothing was taken, and the user has no response.',
  taking: '`dc logs chain-relayer` has the reason.',
  taken: '`dc logs payouts`: key, balance and IP allow-list of the Indonesian account.',
  paying:
    "Look up the payout id as reference in the provider's dashboard. Never send a second transfer.",
  returning: `${relayer} Does the treasury hold enough AUSD?`,
}

const verdict = `A rejected user stays verified until this is done. ${relayer}`

const identity: Steps<IdentityState> = {
  verified: verdict,
  duplicate: verdict,
  rejected: verdict,
  resubmit: verdict,
  reset: verdict,
}

const operation = '`dc logs chain-relayer`: its other alarms name the cause.'

/** The runbook has the same order. */
export const stateLimits: readonly StateLimits[] = [
  { service: 'payments', limits: paymentLimits, steps: payments },
  { service: 'payouts', limits: cashoutLimits, steps: payouts },
  {
    service: 'chain-relayer',
    limits: operationLimits(Number(fields.OLDEST_ALARM_MS.fallback)),
    steps: { waiting: operation, assigned: operation },
  },
  { service: 'gateway', limits: identityLimits, steps: identity },
]
