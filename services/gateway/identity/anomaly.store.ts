import { text } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import { insertNew } from '#platform/db/insert-new'
import type { Tx } from '#platform/db/open'
import { schema } from '../schema.store'

/** Reasons for which an authentic delivery could not be applied. */
export const anomalyKinds = [
  /** The delivery contains no known event. */
  'unreadable',
  /** The approval has no time, level or environment. */
  'incomplete',
  /** We never sent the user to the provider. */
  'subject_unknown',
  /** We did not create the inquiry. */
  'inquiry_unknown',
  /** The provider is no longer configured. */
  'other_provider',
  /** The provider deleted the data of a user on whom there is a claim. */
  'forgotten',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

/** Anomalies for manual review, without personal data. */
export const identityAnomalies = schema.table('identity_anomalies', {
  deliveryId: text('delivery_id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  provider: text('provider').notNull(),
  /** Description without text from the delivery. */
  detail: text('detail').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})

/** Records an anomaly. Returns false if it is already recorded. */
export const recordAnomaly = (
  tx: Tx,
  anomaly: Omit<typeof identityAnomalies.$inferInsert, 'noticedAt'>,
): Promise<boolean> => insertNew(tx, identityAnomalies, anomaly)
