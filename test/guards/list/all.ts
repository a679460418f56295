import type { Guard } from '../guard'
import { chainGuards } from './chain'
import { contractGuards } from './contract'
import { gatewayGuards } from './gateway'
import { indexGuards } from './indexes'
import { messagingGuards } from './messaging'
import { paymentGuards } from './payments'
import { payoutGuards } from './payouts'
import { pricingGuards } from './pricing'
import { promiseGuards } from './promises'
import { relayerGuards } from './relayer'
import { rightGuards } from './rights'

/** Everything without which money is lost or doubled, each with the test that misses it. */
export const guards: readonly Guard[] = [
  ...messagingGuards,
  ...promiseGuards,
  ...paymentGuards,
  ...payoutGuards,
  ...pricingGuards,
  ...relayerGuards,
  ...chainGuards,
  ...contractGuards,
  ...gatewayGuards,
  ...rightGuards,
  ...indexGuards,
]
