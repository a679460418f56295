import { inArray, isNull, sql } from 'drizzle-orm'
import { lease, markPublished } from '#platform/db/outbox.store'
import { outbox } from '../../../services/payments/schema.store'
import { leaseDue } from '../../../services/payouts/cashout.store'
import { cashouts } from '../../../services/payouts/cashout.table'
import { newNumber } from '../copies/payments'
import { newCashout } from '../copies/payouts'
import type { Result } from '../order'
import type { Race } from '../race'

// Each row is taken by one instance.

function shared(results: readonly Result[], wanted: readonly string[]) {
  const taken = results.map((result) => ('value' in result ? (result.value as string[]) : []))
  const failed = results.flatMap((result) => ('error' in result ? [`threw ${result.error}`] : []))
  const counts = wanted.map((id) => taken.flat().filter((one) => one === id).length)
  return {
    outcome: taken.map(({ length }) => length).join(' | '),
    wrong: [...failed, ...counts.flatMap((many) => (many === 1 ? [] : [`taken ${many} times`]))],
  }
}

// guard: a due row is leased by one instance
const publishers: Race = {
  name: 'two instances publish the outbox',
  open: async ({ sides, db }) => {
    const databases = sides.map((side) => side.database('payments'))
    const work = (at: 0 | 1) => async () => {
      const rows = await lease(databases[at]!, outbox, 100)
      const ids = rows.map(({ id }) => id)
      if (ids.length === 0) return ids
      await sides[at]!.outside('the taken rows are published')
      await markPublished(databases[at]!, outbox, ids)
      return ids
    }
    return async () => {
      await db.update(outbox).set({ publishedAt: sql`now()` }).where(isNull(outbox.publishedAt))
      const ids = [1, 2, 3].map(() => `message ${newNumber()}`)
      await db.insert(outbox).values(ids.map((id) => ({ id, subject: 'none', payload: {} })))
      return {
        works: [work(0), work(1)],
        judge: async (results) => {
          const left = await db
            .select({ id: outbox.id })
            .from(outbox)
            .where(sql`${inArray(outbox.id, ids)} and ${outbox.publishedAt} is null`)
          const verdict = shared(results, ids)
          return left.length === 0
            ? verdict
            : { ...verdict, wrong: [...verdict.wrong, `${left.length} rows are not marked`] }
        },
      }
    }
  },
}

// guard: a due row is leased by one instance
const due: Race = {
  name: 'two instances take due cash-out checks',
  open: async ({ sides, db }) => {
    const databases = sides.map((side) => side.database('payouts'))
    const work = (at: 0 | 1) => async () =>
      (await databases[at]!.run((own) => leaseDue(own, 100, 30_000))).map(({ id }) => id)
    return async () => {
      await db.update(cashouts).set({ nextCheckAt: null })
      const rows = [await newCashout(db, 'taken'), await newCashout(db, 'paying')]
      const ids = rows.map(({ id }) => id)
      await db.update(cashouts).set({ nextCheckAt: sql`now()` }).where(inArray(cashouts.id, ids))
      return {
        works: [work(0), work(1)],
        judge: async (results) => shared(results, ids),
      }
    }
  },
}

export const takingRaces: readonly Race[] = [publishers, due]
