import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'

/**
 * A statement that is put together once for each database, and then only given its values: to make a
 * statement of two selects again takes drizzle longer than Postgres needs for it (0.4 ms, measured).
 */
export function prepared<S extends object>(
  build: (db: PostgresJsDatabase) => S,
): (db: PostgresJsDatabase) => S {
  const built = new WeakMap<PostgresJsDatabase, S>()
  return (db) => {
    const known = built.get(db) ?? build(db)
    built.set(db, known)
    return known
  }
}
