import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dir, '..', '..')

/** Maps each module through which services reach the world to the module here that replaces some of its functions. */
export const standIns: Readonly<Record<string, string>> = {
  'services/payments/payment.store.ts': 'rows/payments.ts',
  'services/payments/incoming/check.store.ts': 'rows/payments.ts',
  'services/payments/treasury/sums.store.ts': 'rows/payments.ts',
  'services/payments/treasury/promise.store.ts': 'rows/payments.ts',
  'services/payments/losses/refund.store.ts': 'rows/refunds.ts',
  'services/payments/losses/charge-facts.store.ts': 'rows/refunds.ts',
  'services/payments/schema.store.ts': 'rows/refunds.ts',
  'services/payments/queries/activity.store.ts': 'rows/payments.ts',
  'services/payments/review/resolution.store.ts': 'rows/review.ts',
  'services/payouts/cashout.store.ts': 'rows/cashouts.ts',
  'services/payouts/request/refusal.store.ts': 'rows/cashouts.ts',
  'services/payouts/treasury/promise.store.ts': 'rows/cashouts.ts',
  'services/payouts/schema.store.ts': 'rows/cashouts.ts',
  'services/chain-relayer/operations/operation.store.ts': 'rows/operations.ts',
  'services/chain-relayer/operations/wallet.store.ts': 'rows/operations.ts',
  'services/chain-relayer/operations/reverted-gas.store.ts': 'rows/operations.ts',
  'services/chain-relayer/operations/cursor.store.ts': 'rows/operations.ts',
  'services/chain-relayer/lanes/lane.store.ts': 'rows/lanes.ts',
  'services/gateway/reminders/auto-repay.store.ts': 'rows/reminders.ts',
  'services/gateway/reminders/reminder.store.ts': 'rows/reminders.ts',
  'shared/platform/db/inbox.store.ts': 'rows/messaging.ts',
  'shared/platform/db/outbox.store.ts': 'rows/messaging.ts',
  'shared/platform/db/dead-letter.store.ts': 'rows/messaging.ts',
  'shared/platform/db/messaging.ts': 'rows/messaging.ts',
  'shared/provider/listing.store.ts': 'rows/listings.ts',
  'shared/platform/db/lock.ts': 'rows/listings.ts',
  'shared/platform/db/columns.ts': 'rows/listings.ts',
  'shared/ledger/journal.store.ts': 'rows/journal.ts',
  'shared/platform/clock.ts': 'world/loops.ts',
  'shared/platform/loop.ts': 'world/loops.ts',
  'shared/platform/bus/publish.ts': 'world/loops.ts',
  'shared/platform/metrics/measures.ts': 'world/measures.ts',
  'shared/chain/ref.ts': 'world/refs.ts',
}

const exported = /^export (?:const|async function|function) (\w+)/gm
const namesIn = (path: string) => new Set([...readFileSync(path, 'utf8').matchAll(exported)].map(([, name]) => name!))

export const replaced = Object.entries(standIns).map(([path, standIn]) => {
  const own = namesIn(join(root, path))
  const from = join(import.meta.dir, standIn)
  return { path: join(root, path), from, names: [...namesIn(from)].filter((name) => own.has(name)) }
})
