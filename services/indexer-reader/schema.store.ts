import { pgSchema } from 'drizzle-orm/pg-core'

/** The reader has no messages, so no messaging tables. */
export const schema = pgSchema('indexer_reader')
