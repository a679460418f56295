import { pgSchema } from 'drizzle-orm/pg-core'

/** Pricing has no messages, so no messaging tables. */
export const schema = pgSchema('pricing')
