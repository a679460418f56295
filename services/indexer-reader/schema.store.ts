import { pgSchema } from 'drizzle-orm/pg-core'

/** The schema has no messaging tables, because the reader sends and receives no messages. */
export const schema = pgSchema('indexer_reader')
