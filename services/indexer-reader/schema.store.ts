import { pgSchema } from 'drizzle-orm/pg-core'

/** The reader moves no messages, so its schema has no messaging: a projection and nothing else. */
export const schema = pgSchema('indexer_reader')
