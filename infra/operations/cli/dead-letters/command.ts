import { askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandWords, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { counted } from '#infra/operations/text'
import { pause } from '#platform/deadline'
import { deadLetterDecisions } from '#shared/messages/dead-letters'
import {
  type DeadLetterSummary,
  type Group,
  groupIdOf,
  groupsOf,
  lettersNamed,
  listDeadLetters,
  outcomeOf,
  readLetter,
} from './letters'

const list = reading({
  does: 'list dead letters, grouped by error',
  usage: 'dead-letters list [--json]',
  read: async (_, { sql }) => {
    const groups = groupsOf(await listDeadLetters(sql))
    const text = groups.length === 0 ? 'no dead letters' : groups.map(groupText).join('\n')
    return { text, data: { groups }, ok: groups.length === 0 }
  },
})

const groupText = ({ id, service, subject, error, count, firstAt, lastAt, sample }: Group) =>
  [
    `${id}  ${count} of ${service}: ${subject}`,
    `          ${error}`,
    `          first ${firstAt.toISOString()}, last ${lastAt.toISOString()}, e.g. ${sample}`,
  ].join('\n')

const shownMax = 20

const show = reading({
  does: 'show the messages of a group, or one message',
  usage: 'dead-letters show <group | message> [--json]',
  takes: 1,
  read: async ({ words }, { sql }) => {
    const named = lettersNamed(await listDeadLetters(sql), words[0]!)
    const letters = await Promise.all(
      named.slice(0, shownMax).map(async (letter) => ({ ...letter, ...(await readLetter(sql, letter)) })),
    )
    const more = named.length > shownMax ? [`and ${named.length - shownMax} more`] : []
    const text = letters.map((letter) =>
      [
        `${letter.messageId}  ${letter.service}  ${letter.subject}  group ${groupIdOf(letter)}`,
        `  ${letter.diedAt.toISOString()} after ${letter.attempts === null ? 'an unknown number of attempts' : counted(letter.attempts, 'attempt')}: ${letter.reason}`,
        ...(letter.redriveRequestedAt ? ['  redrive requested'] : []),
        `  ${JSON.stringify(letter.payload)}`,
      ].join('\n'),
    )
    if (named.length === 0) text.push(`no open dead letter or group ${words[0]}`)
    return { text: [...text, ...more].join('\n'), data: { letters }, ok: named.length > 0 }
  },
})

/** Time to wait for a redrive to start, in ms. A service starts one within ten seconds. */
const waitMs = 30_000
const lookMs = 250

const redrive = changing({
  does: 'process again, once the cause is fixed',
  usage: 'dead-letters redrive <group | message | all> --reason <why> [--by <who>] [--json]',
  takes: 1,
  change: async (asked, operator) => {
    const done = await decide('redrive', asked, operator)
    const endsAt = performance.now() + waitMs
    const results: Performed[] = []
    for (const { letter, performed } of done)
      results.push('done' in performed ? await awaited(operator, letter, performed, endsAt) : performed)
    return results
  },
})

const dismiss = changing({
  does: 'close without processing, permanently',
  usage: 'dead-letters dismiss <group | message | all> --reason <why> [--by <who>] [--json]',
  takes: 1,
  change: async (asked, operator) => (await decide('dismiss', asked, operator)).map(({ performed }) => performed),
})

export const deadLetters = among('dead letters: list, show, redrive, dismiss', {
  list,
  show,
  redrive,
  dismiss,
})

type Decided = { letter: DeadLetterSummary; performed: Performed }

async function decide(
  decision: 'redrive' | 'dismiss',
  { words, reason, by }: CommandWords,
  operator: Operator,
): Promise<Decided[]> {
  const letters = lettersNamed(await listDeadLetters(operator.sql), words[0]!)
  if (letters.length === 0 && words[0] !== 'all') throw new Error(`no open dead letter or group ${words[0]}`)
  const decided: Decided[] = []
  for (const letter of letters) {
    const { service, messageId } = letter
    const target = `${service}:${messageId}`
    const diedAt = letter.diedAt.toISOString()
    const command = { verb: `dead-letters ${decision}`, target, cause: diedAt, reason, by }
    const performed = await perform(operator, command, async (id) => {
      const request = { command: id, by, reason, decision, messageId, diedAt }
      const outcome = await askOutcome(operator, deadLetterDecisions[service], request)
      if ('done' in outcome) return { done: `${target} ${outcome.done}` }
      return { refused: `${target} ${outcome.refused}` }
    })
    decided.push({ letter, performed })
  }
  return decided
}

async function awaited(
  { sql }: Operator,
  letter: DeadLetterSummary,
  performed: Performed,
  endsAt: number,
): Promise<Performed> {
  const name = `${letter.service}:${letter.messageId}`
  for (;;) {
    const { ended, again, reason } = await outcomeOf(sql, letter)
    if (ended) return { ...performed, done: `${name} processed` }
    if (again) return { id: performed.id, refused: `${name} dead-lettered again: ${reason}` }
    if (performance.now() > endsAt) return { id: performed.id, refused: `${name} not processed yet` }
    await pause(lookMs)
  }
}
