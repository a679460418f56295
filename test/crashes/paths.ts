import type { Path } from './path'
import { cashoutPaths } from './paths/cashout'
import { personPaths } from './paths/person'
import { refundPaths } from './paths/refund'
import { sendPaths } from './paths/send'
import { settlementPaths } from './paths/settlement'
import { topupPaths } from './paths/topup'

export const paths: readonly Path[] = [
  ...[topupPaths, settlementPaths, cashoutPaths, refundPaths, sendPaths, personPaths].flat(),
]
