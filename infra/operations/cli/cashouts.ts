import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { among, changing, type Verb } from '#infra/operations/cli/command'
import { CashoutCancel, CashoutGiveUp, CashoutHold } from '#shared/messages/payouts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const faultIn = ([payoutId = '']: readonly string[]) =>
  uuid.test(payoutId) ? undefined : `${payoutId} is not the id of a cash-out`

/** Returns the number of changes so far as the cause, so that a command repeated before the opposite one is the same. */
async function seen(sql: Sql, payoutId: string, to: 'held' | 'released') {
  const [row] = await sql<{ revision: number; held: boolean }[]>`
    select hold_revision as revision, held_by_operator as held from payouts.payouts where id = ${payoutId}`
  const { revision, held } = row ?? { revision: 0, held: false }
  return { revision, cause: `revision ${held === (to === 'held') ? revision : revision + 1}` }
}

const setting = (name: string, to: 'held' | 'released', does: string): Verb =>
  changing({
    does,
    usage: `cashouts ${name} <payoutId> --reason <why> [--by <who>]`,
    takes: 1,
    faultIn,
    change: async ({ words: [payoutId = ''], reason, by }, operator) => {
      const { revision, cause } = await seen(operator.sql, payoutId, to)
      const command = { verb: `cashouts ${name}`, target: payoutId, cause, reason, by }
      return [
        await perform(operator, command, (id) =>
          askOutcome(operator, CashoutHold, { command: id, by, reason, payoutId, to, revision }),
        ),
      ]
    },
  })

/** A command that returns the AUSD of a cash-out, once. */
const returning = (
  name: string,
  question: typeof CashoutCancel | typeof CashoutGiveUp,
  { does, cause }: { does: string; cause: string },
): Verb =>
  changing({
    does: `${does}; it cannot be undone`,
    usage: `cashouts ${name} <payoutId> --reason <why> [--by <who>]`,
    takes: 1,
    faultIn,
    change: async ({ words: [payoutId = ''], reason, by }, operator) => {
      const command = { verb: `cashouts ${name}`, target: payoutId, cause, reason, by }
      return [
        await perform(operator, command, (id) => askOutcome(operator, question, { command: id, by, reason, payoutId })),
      ]
    },
  })

export const cashouts = among('cash-outs: hold, release, cancel before the payout; give-up after its order', {
  hold: setting('hold', 'held', 'keep a cash-out from being paid until it is released'),
  release: setting('release', 'released', 'let a held cash-out be paid'),
  cancel: returning('cancel', CashoutCancel, {
    does: 'return the AUSD of a taken cash-out whose payout is not ordered',
    cause: 'cancelled',
  }),
  'give-up': returning('give-up', CashoutGiveUp, {
    does: 'end a payout that the provider did not make, and return its AUSD',
    cause: 'given up',
  }),
})
