import { text } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import type { Tx } from '#platform/db/open'
import { schema } from '../schema.store'

/** Reasons why an authentic delivery could not be applied. */
export const anomalyKinds = [
  /** No known event in it. */
  'unreadable',
  /** An approval without a time, a level or an environment. */
  'incomplete',
  /** A verdict on a user whom we never sent there. */
  'subject_unknown',
  /** A verdict of an inquiry that we did not create. */
  'inquiry_unknown',
  /** From a provider that is no longer configured. */
  'other_provider',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

/** Identity deliveries for manual review, without personal data. */
export const identityAnomalies = schema.table('identity_anomalies', {
  deliveryId: text('delivery_id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  provider: text('provider').notNull(),
  /** Our description, without text from the delivery. */
  detail: text('detail').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})

/** Records an anomaly; idempotent. */
export const recordAnomaly = (
  tx: Tx,
  anomaly: Omit<typeof identityAnomalies.$inferInsert, 'noticedAt'>,
) => tx.insert(identityAnomalies).values(anomaly).onConflictDoNothing()
