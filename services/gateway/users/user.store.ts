import { eq } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import { addressColumn, at } from '#shared/db/columns'
import type { Database } from '#shared/db/open'
import { schema } from '../schema.store'

/** Everybody who ever signed in. */
export const users = schema.table('users', {
  wallet: addressColumn('wallet').primaryKey(),
  country: text('country'),
  createdAt: at('created_at').notNull().defaultNow(),
})

/** Country as ISO 3166-1 alpha-2, null until it is set. */
export type User = { readonly country: string | null; readonly createdAt: Date }

/** What the routes do with users. */
export type Users = {
  /** Makes the row if there is none; asks the database once per wallet and process. */
  readonly insert: (wallet: `0x${string}`) => Promise<void>
  readonly find: (wallet: `0x${string}`) => Promise<User | undefined>
  readonly setCountry: (wallet: `0x${string}`, country: string) => Promise<void>
}

/** Users in Postgres. Of more than `knownMax` wallets, the oldest are asked about again. */
export function openUsers(database: Database, knownMax = 100_000): Users {
  const known = new LRUCache<string, true>({ max: knownMax })
  return {
    async insert(wallet) {
      if (known.has(wallet)) return
      await database.run((db) => db.insert(users).values({ wallet }).onConflictDoNothing())
      known.set(wallet, true)
    },
    async find(wallet) {
      const rows = await database.read((db) =>
        db.select().from(users).where(eq(users.wallet, wallet)),
      )
      return rows[0]
    },
    async setCountry(wallet, country) {
      await database.run((db) =>
        db
          .insert(users)
          .values({ wallet, country })
          .onConflictDoUpdate({ target: users.wallet, set: { country } }),
      )
    },
  }
}
