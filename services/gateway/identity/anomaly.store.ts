import { text } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { schema } from '../schema.store'

/** Why an authentic delivery says nothing that could be decided. */
export const anomalyKinds = [
  /** Nothing that we know is in it. */
  'unreadable',
  /** It approves somebody and does not say when, of which level, or where. */
  'incomplete',
  /** A verdict on somebody whom we never sent there. */
  'subject_unknown',
  /** Of a provider that was configured when it came and is not any more. */
  'other_provider',
] as const
export type AnomalyKind = (typeof anomalyKinds)[number]

/** Deliveries of the identity provider that a person should look at; without anything personal. */
export const identityAnomalies = schema.table('identity_anomalies', {
  deliveryId: text('delivery_id').primaryKey(),
  kind: text('kind', { enum: anomalyKinds }).notNull(),
  provider: text('provider').notNull(),
  /** In our words. */
  detail: text('detail').notNull(),
  noticedAt: at('noticed_at').notNull().defaultNow(),
})

/** Repeatable. */
export const recordAnomaly = (
  tx: Tx,
  anomaly: Omit<typeof identityAnomalies.$inferInsert, 'noticedAt'>,
) => tx.insert(identityAnomalies).values(anomaly).onConflictDoNothing()
