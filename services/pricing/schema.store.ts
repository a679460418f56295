import { pgSchema } from 'drizzle-orm/pg-core'

/** Schema of taken quotes; pricing has no messages, so no messaging tables. */
export const schema = pgSchema('pricing')
