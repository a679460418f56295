import { chargeSteps, refundSteps } from './charge-steps'
import { checkoutSteps } from './checkout-steps'
import { lookupSteps } from './lookup-steps'
import type { PaymentBench } from './payment-bench'
import { type PayoutBench, payoutSteps } from './payout-steps'
import type { Suite } from './step'
import { balanceSteps, listSteps } from './transaction-steps'

const paymentsName = (account: string) => `payments: account ${account}`
const refundsName = (account: string) => `refunds: account ${account}`
const payoutsName = (api: 'v2' | 'v3') => (api === 'v2' ? 'payouts: account ID' : 'payouts v3: account ID')

export const paymentSuites = (bench: PaymentBench): Suite[] => [
  {
    name: paymentsName(bench.account),
    steps: [
      ...checkoutSteps(bench),
      ...listSteps(bench),
      ...balanceSteps(bench),
      ...chargeSteps(bench),
      ...lookupSteps(bench),
    ],
  },
  { name: refundsName(bench.account), steps: refundSteps(bench) },
]

export const payoutSuite = (bench: PayoutBench): Suite => ({
  name: payoutsName(bench.api),
  steps: payoutSteps(bench),
})

/** Suite of v3, which is only tested if it is configured. */
export const payoutsV3NotAsked: Suite = {
  name: payoutsName('v3'),
  steps: [],
  skipped: 'PROVIDER_PAYOUTS_API is not v3',
}

export const withoutKey = (account: 'ID' | 'MY', variable: string): Suite[] =>
  [
    paymentsName(account),
    refundsName(account),
    ...(account === 'ID' ? [payoutsName('v2'), payoutsName('v3')] : []),
  ].map((name) => ({ name, steps: [], skipped: `${variable} is not set` }))
