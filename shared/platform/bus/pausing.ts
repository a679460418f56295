import { type Handler, handler } from '#platform/bus/serve'
import type { Database } from '#platform/db/open'
import { type PauseTable, setPause } from '#platform/db/pause.store'
import type { Log } from '#platform/log'
import type { PauseQuestion } from '#shared/messages/operator-commands'
import { ok } from '#shared/refusals'

export const answerPause = (
  { database, log }: { database: Database; log: Log },
  {
    question,
    table,
    what: everywhere,
    inCountry,
    changed,
  }: {
    question: PauseQuestion
    table: PauseTable
    what: string
    /** Returns the name of the pause in one country, if the operation has one in each. */
    inCountry?: (country: string) => string
    changed?: () => void
  },
): Handler =>
  handler(question, async ({ by, reason, to, revision, country }) => {
    const what = country === undefined ? everywhere : inCountry?.(country)
    if (what === undefined) return ok({ refused: `${everywhere} cannot be paused by country` })
    const outcome = await database.run((db) => setPause(db, table, { what, by, reason, to, revision }))
    if ('done' in outcome) log.warn({ what, to, by, reason }, 'pause begun or ended by operator')
    changed?.()
    return ok(outcome)
  })
