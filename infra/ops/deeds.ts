import type { Sql } from 'postgres'
import { reading } from '#infra/ops/verb'

/** What an operator asked for, and what was said last. */
export type Noted = {
  at: Date
  by: string
  verb: string
  target: string
  reason: string
  outcome: 'done' | 'refused' | null
  said: string | null
}

const shownMax = 50

/** Not all is well while nobody knows what came of a deed. */
export const deeds = reading({
  does: 'who asked for what, why, and what came of it, newest first; of one target, or of all',
  usage: 'deeds [target] [--json]',
  takes: [0, 1],
  read: async ({ words: [target] }, { sql }) => {
    const found = await readDeeds(sql, target)
    const text = found.length === 0 ? 'nobody asked for anything' : found.map(lineOf).join('\n')
    return { text, data: { deeds: found }, ok: found.every(({ outcome }) => outcome !== null) }
  },
})

/** Of one target, or of all; the newest first. */
export const readDeeds = (sql: Sql, target?: string) => sql<Noted[]>`
  select d.asked_at as at, d.asked_by as by, d.verb, d.target, d.reason, o.outcome, o.said
  from ops.deeds d left join lateral (
    select outcome, said from ops.outcomes where deed_id = d.id order by id desc limit 1
  ) o on true
  where ${target ?? null}::text is null or d.target = ${target ?? null}
  order by d.asked_at desc limit ${shownMax}`

const lineOf = ({ at, by, verb, target, reason, outcome, said }: Noted): string =>
  `${at.toISOString()}  ${by}  ${verb} ${target}  (${reason})  ${outcome ? `${outcome}: ${said}` : 'nobody knows what came of it: ask for the same again'}`
