import { eq, sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import { addressColumn, at } from '#platform/db/columns'
import type { Database } from '#platform/db/open'
import { prepared } from '#platform/db/prepared'
import { batchReads } from '#platform/reads'
import { identities } from '../identity/identity.store'
import { rechecks } from '../identity/recheck.store'
import type { IdentityFacts } from '../identity/verification'
import { schema } from '../schema.store'

/** Wallets that ever signed in. */
export const users = schema.table('users', {
  wallet: addressColumn('wallet').primaryKey(),
  country: text('country'),
  createdAt: at('created_at').notNull().defaultNow(),
})

/** User of the app. `country` is ISO 3166-1 alpha-2. */
export type User = {
  readonly country: string | null
  readonly createdAt: Date
  readonly known: IdentityFacts
}

export type Users = {
  /** Stores a wallet. Queries the database once per wallet and process. */
  readonly insert: (wallet: `0x${string}`) => Promise<void>
  readonly find: (wallet: `0x${string}`) => Promise<User | undefined>
  readonly setCountry: (wallet: `0x${string}`, country: string) => Promise<void>
}

const findUsers = prepared((db) =>
  db
    .select({
      wallet: users.wallet,
      country: users.country,
      createdAt: users.createdAt,
      known: {
        state: sql<IdentityFacts['state']>`${identities.state}`,
        decidedAt: identities.decidedAt,
        flagFailedAt: identities.flagFailedAt,
        linkedAt: rechecks.linkedAt,
        progress: rechecks.progress,
        progressedAt: rechecks.progressedAt,
      },
    })
    .from(users)
    .leftJoin(identities, eq(identities.wallet, users.wallet))
    .leftJoin(rechecks, eq(rechecks.wallet, users.wallet))
    .where(sql`${users.wallet} = any(${sql.placeholder('wallets')})`)
    .prepare('users'),
)

/** Opens the users. Remembers up to `knownMax` wallets that have a row. */
export function openUsers(database: Database, knownMax = 100_000): Users {
  const known = new LRUCache<string, true>({ max: knownMax })
  const insertAll = batchReads((wallets: ReadonlySet<string>) =>
    database.run((db) =>
      db.execute(sql`
        insert into ${users} (wallet) select unnest(${sql.param([...wallets].sort())}::text[])
        on conflict do nothing`),
    ),
  )
  const findAll = batchReads(async (wallets: ReadonlySet<`0x${string}`>) => {
    const rows = await database.read((db) => findUsers(db).execute({ wallets: [...wallets] }))
    return new Map(rows.map((row) => [row.wallet, row]))
  })
  return {
    async insert(wallet) {
      if (known.has(wallet)) return
      await insertAll(wallet)
      known.set(wallet, true)
    },
    find: async (wallet) => (await findAll(wallet)).get(wallet),
    async setCountry(wallet, country) {
      await database.run((db) =>
        db.insert(users).values({ wallet, country }).onConflictDoUpdate({ target: users.wallet, set: { country } }),
      )
    },
  }
}
