import { fields as deploy } from '#infra/deploy/config'
import { fields as migrations } from '#infra/migrations/migrate'
import { fields as provisioning } from '#infra/nats/provision'
import { fields as operations } from '#infra/operations/config'
import type { Fields } from '#platform/config'
import { fields as chainRelayer } from '../../services/chain-relayer/config'
import { fields as gateway } from '../../services/gateway/config'
import { fields as indexerReader } from '../../services/indexer-reader/config'
import { fields as payments } from '../../services/payments/config'
import { fields as payouts } from '../../services/payouts/config'
import { fields as pricing } from '../../services/pricing/config'

/** Processes that call `readConfig`, by their names in compose.yaml. */
export const processes: Readonly<Record<string, Fields>> = {
  gateway,
  pricing,
  payments,
  payouts,
  'chain-relayer': chainRelayer,
  'indexer-reader': indexerReader,
  operations,
  migrate: migrations,
  provision: provisioning,
  deploy,
}
