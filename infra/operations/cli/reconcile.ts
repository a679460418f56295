import type { Sql } from 'postgres'
import { type Performed, perform } from '#infra/operations/audit-log/audit-log.store'
import { type OpenItem, readSheet } from '#infra/operations/books/balance-sheet'
import { explainBreak } from '#infra/operations/books/explain'
import {
  openBooksOf,
  type Reconciled,
  reconcile as reconcileBooks,
} from '#infra/operations/books/reconcile'
import { ruleNamed } from '#infra/operations/books/rules/catalogue'
import { breakLine, csvOf } from '#infra/operations/books/text'
import { itemLine } from '#infra/operations/cli/books'
import { asksForHelp, jsonOf, readWords, type Verb, wordsOf } from '#infra/operations/cli/command'
import { type Operator, openOperator, operatorName } from '#infra/operations/cli/operator'
import { commandFor } from '#infra/operations/cli/remedy'
import { booksDatabaseUrl, operatorPlace } from '#infra/operations/place'
import { counted } from '#infra/operations/words'
import type { Say } from '#platform/command'
import { amountText } from '#shared/money/text'

const usage = `usage: bun run ops reconcile [--whole] [--csv | --json]
       bun run ops reconcile explain <break> --owner <who> --reason <why> --until <day> [--by <who>]

Compares rows and journals with chain and provider, starting from the last run, or from the beginning
with --whole. Exits 0 if no break is past its grace period.`

export const reconcile: Verb = {
  does: 'compare rows, journals, chain and provider; explain a break',
  among: {
    explain: { does: 'assign an owner to a break and mute its alert until a date', run: explain },
  },
  run: (words, say) => (words[0] === 'explain' ? explain(words.slice(1), say) : run(words, say)),
}

async function run(words: string[], say: Say): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  if (asksForHelp(words)) return helped(say)
  const read = readWords(words, { whole: flag, csv: flag, json: flag })
  if ('wrong' in read) return helped(say, read.wrong)
  if (read.words.length > 0) return helped(say, `unexpected argument: ${read.words[0]}`)
  const { whole, csv, json } = read.options as Record<'whole' | 'csv' | 'json', boolean>
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  const found = await reconcileBooks(books, { whole, listed: csv || json })
  const { items: open } = await readSheet(books.sql)
  if (csv) say(csvOf(found.breaks, found.agreed))
  else
    say(json ? jsonOf({ ...found, open }) : textOf(found, open, books.place.provider !== undefined))
  const counts = found.breaks.some(({ standing }) => standing === 'counts')
  return counts || found.unreadable !== undefined ? 1 : 0
}

type Told = { id: string; owner: string; reason: string; until: Date; by: string }

function explanationIn(words: string[]): Told | { wrong: string } {
  const word = { type: 'string' } as const
  const read = readWords(words, { owner: word, reason: word, until: word, by: word })
  if ('wrong' in read) return read
  const { owner, reason, until = '', by } = read.options as Record<string, string | undefined>
  const [given = '', ...more] = read.words
  const [, id] = /^#?([0-9]{1,18})$/.exec(given) ?? []
  if (!id || more.length > 0) return { wrong: 'expected the number of one break' }
  const missing = Object.entries({ owner, reason, until }).find(([, value]) => !value?.trim())
  if (missing) return { wrong: `--${missing[0]} is required` }
  const day = new Date(until)
  if (Number.isNaN(day.getTime()))
    return { wrong: `--until ${until} is not a date such as 2026-12-31` }
  return { id, owner: owner!, reason: reason!, until: day, by: operatorName(by) }
}

async function explain(words: string[], say: Say): Promise<number> {
  if (asksForHelp(words)) return helped(say)
  const told = explanationIn(words)
  if ('wrong' in told) return helped(say, told.wrong)
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  await using operator = openOperator()
  const performed = await explained(operator, books.sql, told)
  say(wordsOf(performed))
  return 'done' in performed ? 0 : 1
}

const explainVerb = 'reconcile explain'

/** Numbered: an explanation that replaces another one is a new command, even if it is an older one. */
async function causeOf(sql: Sql, target: string, explanation: string): Promise<string> {
  const done = await sql<{ cause: string }[]>`
    select d.cause from ops.deeds d join ops.outcomes o on o.deed_id = d.id and o.outcome = 'done'
    where d.verb = ${explainVerb} and d.target = ${target} order by o.id`
  const last = `${done.length}. ${explanation}`
  return done.at(-1)?.cause === last ? last : `${done.length + 1}. ${explanation}`
}

export async function explained(
  operator: Pick<Operator, 'sql'>,
  books: Sql,
  { id, owner, reason, until, by }: Told,
): Promise<Performed> {
  const target = `break ${id}`
  const explanation = `${owner}, until ${until.toISOString()}: ${reason}`
  const cause = await causeOf(operator.sql, target, explanation)
  const deed = { verb: explainVerb, target, cause, reason, by }
  return perform(operator, deed, async () =>
    (await explainBreak(books, id, { owner, reason, until }))
      ? { done: `break ${id} muted until ${until.toISOString()}` }
      : { refused: `break ${id} is not open` },
  )
}

function helped(say: Say, wrong?: string): number {
  say(wrong === undefined ? usage : `${usage}\nerror: ${wrong}`)
  return wrong === undefined ? 0 : 2
}

export function textOf(
  found: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  const { breaks, matched, items, unread, tookMs, unreadable } = found
  return [
    `${counted(items, 'item')} compared in ${tookMs} ms${unread > 0 ? `, ${unread} of them not yet read from chain or provider` : ''}`,
    ...matched.map(
      ({ asset, agrees, differs }) =>
        `  ${asset}: ${amountText(agrees, asset)} matched, ${amountText(differs, asset)} differ`,
    ),
    ...(isProviderAsked ? [] : ['no provider key: nothing was compared with the provider']),
    ...(unreadable === undefined ? [] : [`could not read everything: ${unreadable}`]),
    ...breaks.flatMap((one) => [
      breakLine(one),
      `      ${one.about}`,
      ...(one.reason ? [`      ${one.owner}: ${one.reason}`] : []),
      `      to do: ${ruleNamed(one.rule)?.remedy ?? 'its rule was removed: explain it'}`,
      `             ${commandFor(one)}`,
    ]),
    ...(open.length > 0 ? ['open items'] : []),
    ...open.map((one) => `  ${itemLine(one)}`),
    verdictOn(found, open, isProviderAsked),
  ].join('\n')
}

/** Reports a balance only if nothing is open and everything was compared. */
function verdictOn(
  { breaks, unread, unreadable }: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  if (breaks.length > 0) return `open breaks: ${breaks.length}`
  if (unread > 0 || unreadable !== undefined || !isProviderAsked)
    return 'no breaks, but not everything was compared'
  if (open.length > 0) return `no breaks; ${counted(open.length, 'item')} open`
  return 'the books balance'
}
