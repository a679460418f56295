import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { changing, type Verb } from '#infra/operations/cli/command'
import { RelayingPause } from '#shared/messages/chain'
import type { PauseQuestion } from '#shared/messages/operator-commands'
import { TopupsPause, topupsIn } from '#shared/messages/payments'
import { PayoutsPause } from '#shared/messages/payouts'

// Items in progress continue during a pause. services/README.md has the details.

type Stoppable = { readonly schema: string; readonly question: PauseQuestion; readonly country?: 'ID' | 'MY' }
const stoppable = new Map<string, Stoppable>([
  ['topups', { schema: 'payments', question: TopupsPause }],
  ...(['ID', 'MY'] as const).map((country): [string, Stoppable] => [
    topupsIn(country),
    { schema: 'payments', question: TopupsPause, country },
  ]),
  ['payouts', { schema: 'payouts', question: PayoutsPause }],
  ['relaying', { schema: 'chain_relayer', question: RelayingPause }],
])
const names = [...stoppable.keys()].join('|')

/**
 * Returns the current state as the cause. A command that is repeated before the opposite one is the same command, so it
 * has the same cause.
 */
async function seen(sql: Sql, what: string, { schema }: Stoppable, to: 'paused' | 'running') {
  const [row] = await sql<{ revision: number; since: Date | null }[]>`
    select revision, since from ${sql(schema)}.pauses where what = ${what}`
  const { revision = 0, since = null } = row ?? {}
  const isSo = (since !== null) === (to === 'paused')
  return { revision, cause: `revision ${isSo ? revision : revision + 1}` }
}

const setting = (verb: string, to: 'paused' | 'running', does: string): Verb =>
  changing({
    does,
    usage: `${verb} ${names} --reason <why> [--by <who>]`,
    takes: 1,
    faultIn: ([what = '']) =>
      stoppable.has(what) ? undefined : `cannot pause ${what}; choose one of ${[...stoppable.keys()].join(', ')}`,
    change: async ({ words: [what = ''], reason, by }, operator) => {
      const one = stoppable.get(what)!
      const { question, country } = one
      const { revision, cause } = await seen(operator.sql, what, one, to)
      const command = { verb, target: what, cause, reason, by }
      return [
        await perform(operator, command, (id) =>
          askOutcome(operator, question, { command: id, by, reason, to, revision, ...(country && { country }) }),
        ),
      ]
    },
  })

export const pause = setting('pause', 'paused', 'stop new top-ups (of one country or all), payouts or relaying')
export const resume = setting('resume', 'running', 'end a pause')
