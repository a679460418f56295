import { pgSchema } from 'drizzle-orm/pg-core'

/** Pricing moves no messages, so its schema has no messaging: takings, and numbers of copies. */
export const schema = pgSchema('pricing')
