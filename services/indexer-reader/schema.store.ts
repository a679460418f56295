import { pgSchema } from 'drizzle-orm/pg-core'

/** Schema of the projection; the reader has no messages, so no messaging tables. */
export const schema = pgSchema('indexer_reader')
