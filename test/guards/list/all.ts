import type { Guard } from '../guard'
import { chainGuards } from './chain'
import { contractGuards } from './contract'
import { gatewayGuards } from './gateway'
import { indexGuards } from './indexes'
import { messagingGuards } from './messaging'
import { paymentGuards } from './payments'
import { payoutEvidenceGuards } from './payout-evidence'
import { payoutGuards } from './payouts'
import { pricingGuards } from './pricing'
import { promiseGuards } from './promises'
import { refundGuards } from './refunds'
import { relayerGuards } from './relayer'
import { rightGuards } from './rights'
import { scoreGuards } from './score'

export const guards: readonly Guard[] = [
  ...messagingGuards,
  ...promiseGuards,
  ...paymentGuards,
  ...refundGuards,
  ...payoutGuards,
  ...payoutEvidenceGuards,
  ...pricingGuards,
  ...relayerGuards,
  ...chainGuards,
  ...contractGuards,
  ...scoreGuards,
  ...gatewayGuards,
  ...rightGuards,
  ...indexGuards,
]
