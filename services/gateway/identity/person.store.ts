import { and, eq, or, sql } from 'drizzle-orm'
import { check, text, uuid } from 'drizzle-orm/pg-core'
import { addressColumn, at, isOneOf, quotedList, textList } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import type { Tx } from '#platform/db/open'
import { schema } from '../schema.store'
import { identities } from './identity.store'
import { judgePerson, type PersonVerdict, type Ruling, rulings, type SamePerson } from './person'
import { rechecks } from './recheck.store'

/** Latest decision of an operator about each wallet. It is kept after an erasure, because it names no person. */
export const persons = schema.table(
  'persons',
  {
    wallet: addressColumn('wallet').primaryKey(),
    ruling: text('ruling').$type<Ruling>().notNull(),
    /** For `linked`: the wallet with this person's record. */
    linkedTo: addressColumn('linked_to'),
    /** Operator's command that decided, and the command that it replaced. */
    command: uuid('deed').notNull(),
    replaced: uuid('replaced'),
    ruledAt: at('ruled_at').notNull().defaultNow(),
  },
  (table) => [
    check('persons_ruling', sql`${table.ruling} in (${quotedList(rulings)})`),
    check('persons_linked', sql`(${table.ruling} = 'linked') = (${table.linkedTo} is not null)`),
  ],
)
type PersonRow = typeof persons.$inferSelect

/**
 * Judges an approval. The caller holds the wallet's lock; the common lock lets the second of two approvals
 * see the first.
 */
export async function judgeApproved(tx: Tx, wallet: `0x${string}`, asked: SamePerson): Promise<PersonVerdict> {
  const named = asked === 'unknown' ? [] : asked.filter((one) => one !== null)
  // guard: wallets of one person are judged one after another
  lockNamed(tx, 'identity persons')
  const holdings = await tx
    .select({ wallet: identities.wallet, firstVerifiedAt: identities.firstVerifiedAt })
    .from(identities)
    .where(
      or(
        isOneOf(identities.wallet, [wallet, ...named]),
        // An applicant's answer dates from its own check, and does not name applicants who came later.
        sql`${identities.named} @> array[${wallet}]::text[]`,
      ),
    )
  const [ruled] = await tx.select().from(persons).where(eq(persons.wallet, wallet))
  const own = holdings.find((one) => one.wallet === wallet)
  const others = holdings.filter((one) => one !== own)
  // A wallet may be withdrawn before its first verdict, and then has no holding.
  const same = [...new Set([...named, ...others.map((other) => other.wallet)])]
  const withdrawn = await findWithdrawn(tx, same)
  return judgePerson(
    {
      wallet,
      firstVerifiedAt: own?.firstVerifiedAt ?? null,
      ruling: ruled?.ruling ?? null,
      linkedTo: ruled?.linkedTo ?? null,
    },
    asked,
    [
      ...others.map((other) => ({ ...other, isWithdrawn: withdrawn.has(other.wallet) })),
      ...[...withdrawn].filter((one) => others.every((other) => other.wallet !== one)).map(unverified),
    ],
  )
}

const unverified = (wallet: `0x${string}`) => ({ wallet, firstVerifiedAt: null, isWithdrawn: true })

async function findWithdrawn(tx: Tx, wallets: readonly `0x${string}`[]): Promise<ReadonlySet<`0x${string}`>> {
  if (wallets.length === 0) return new Set()
  const rows = await tx
    .select({ wallet: persons.wallet })
    .from(persons)
    .where(and(isOneOf(persons.wallet, [...wallets]), eq(persons.ruling, 'withdrawn')))
  return new Set(rows.map(({ wallet }) => wallet))
}

export async function recordNamed(tx: Tx, wallet: `0x${string}`, same: SamePerson): Promise<void> {
  if (same === 'unknown') return
  const named = textList(same.filter((one) => one !== null).sort())
  await tx
    .update(identities)
    .set({ named })
    .where(and(eq(identities.wallet, wallet), sql`${identities.named} <> ${named}`))
}

/** Refuses a wallet that is linked itself: two that are linked to each other would leave their person without a verified one. */
async function linkFault(tx: Tx, linkedTo: `0x${string}`): Promise<{ refused: string } | undefined> {
  // Of two links towards each other, the second sees the first.
  lockNamed(tx, 'identity persons')
  const [other] = await tx.select().from(persons).where(eq(persons.wallet, linkedTo))
  return other?.ruling === 'linked' ? { refused: `${linkedTo} is linked to ${other.linkedTo} itself` } : undefined
}

export type Ruled = Pick<PersonRow, 'wallet' | 'ruling' | 'linkedTo' | 'command' | 'replaced'>

/** Replaces the decision that the operator saw, once per command, and makes its recheck due. */
export async function rule(tx: Tx, ruled: Ruled): Promise<{ refused: string } | undefined> {
  lockNamed(tx, `identity:${ruled.wallet}`)
  const [known] = await tx.select().from(persons).where(eq(persons.wallet, ruled.wallet))
  if (known?.command === ruled.command) return undefined
  if ((known?.command ?? null) !== ruled.replaced)
    return { refused: 'another decision about this wallet was made in between' }
  const refused = ruled.linkedTo && (await linkFault(tx, ruled.linkedTo))
  if (refused) return refused
  // Without a verification, only its withdrawal has an effect: on the first approval.
  const due = await tx
    .update(rechecks)
    .set({ nextCheckAt: sql`now()`, updatedAt: sql`now()` })
    .where(eq(rechecks.wallet, ruled.wallet))
    .returning({ wallet: rechecks.wallet })
  if (due.length === 0 && ruled.ruling !== 'withdrawn') return { refused: 'this wallet has never begun a verification' }
  const values = { ...ruled, ruledAt: sql`now()` }
  await tx.insert(persons).values(values).onConflictDoUpdate({ target: persons.wallet, set: values })
  return undefined
}
