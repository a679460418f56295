import { text } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { schema } from '../schema.store'

/** Why an authentic delivery could not be applied. */
export const anomalyKinds = [
  /** No known event in it. */
  'unreadable',
  /** An approval without a time, a level or an environment. */
  'incomplete',
  /** A user whom we never sent there. */
  'subject_unknown',
  /** An inquiry that we did not create. */
  'inquiry_unknown',
  /** From a provider that is no longer configured. */
  'other_provider',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

/** For manual review, without personal data. */
export const identityAnomalies = schema.table('identity_anomalies', {
  deliveryId: text('delivery_id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  provider: text('provider').notNull(),
  /** Without text from the delivery. */
  detail: text('detail').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})

export const recordAnomaly = (tx: Tx, anomaly: Omit<typeof identityAnomalies.$inferInsert, 'noticedAt'>) =>
  tx.insert(identityAnomalies).values(anomaly).onConflictDoNothing()
