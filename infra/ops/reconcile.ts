import { explainBreak } from '#infra/books/explain'
import { openBooksOf, type Reconciled, reconcile as reconcileBooks } from '#infra/books/reconcile'
import { ruleNamed } from '#infra/books/rules/catalogue'
import { type OpenItem, readSheet } from '#infra/books/sheet'
import { breakLine, csvOf } from '#infra/books/text'
import { itemLine } from '#infra/ops/books'
import { perform } from '#infra/ops/deed.store'
import { openOperator, operatorName } from '#infra/ops/operator'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import { commandFor } from '#infra/ops/remedy'
import { asksForHelp, jsonOf, readWords, type Verb, wordsOf } from '#infra/ops/verb'
import type { Say } from '#shared/command'
import { amountText } from '#shared/money/text'
import { counted } from '#shared/trace/words'

const usage = `usage: bun run ops reconcile [--whole] [--csv | --json]
       bun run ops reconcile explain <break> --owner <who> --reason <why> --until <day> [--by <who>]

Reads what is new at the chain and at the provider, and compares it with rows and journals, from the
last time on; with --whole from the beginning. Exits 0 when nothing is open beyond its grace.`

/** Compares, and says what does not agree, since when, and what to do. */
export const reconcile: Verb = {
  does: 'compare rows, journals, chain and provider; explain a break',
  among: { explain: { does: 'say who looks after a break, why, and until when', run: explain } },
  run: (words, say) => (words[0] === 'explain' ? explain(words.slice(1), say) : run(words, say)),
}

async function run(words: string[], say: Say): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  if (asksForHelp(words)) return helped(say)
  const read = readWords(words, { whole: flag, csv: flag, json: flag })
  if ('wrong' in read) return helped(say, read.wrong)
  if (read.words.length > 0) return helped(say, `${read.words[0]} is nothing it takes`)
  const { whole, csv, json } = read.options as Record<'whole' | 'csv' | 'json', boolean>
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  const found = await reconcileBooks(books, { whole, listed: csv || json })
  const { items: open } = await readSheet(books.sql)
  if (csv) say(csvOf(found.breaks, found.agreed))
  else say(json ? jsonOf({ ...found, open }) : textOf(found, open, books.provider !== undefined))
  const counts = found.breaks.some(({ standing }) => standing === 'counts')
  return counts || found.unreadable !== undefined ? 1 : 0
}

/** What a person said of a break. */
type Explained = { id: string; owner: string; reason: string; until: Date; by: string | undefined }

/** In words, what is wrong with it. */
function explainedIn(words: string[]): Explained | { wrong: string } {
  const word = { type: 'string' } as const
  const read = readWords(words, { owner: word, reason: word, until: word, by: word })
  if ('wrong' in read) return read
  const { owner, reason, until = '', by } = read.options as Record<string, string | undefined>
  const [given = '', ...more] = read.words
  const [, id] = /^#?([0-9]{1,18})$/.exec(given) ?? []
  if (!id || more.length > 0) return { wrong: 'it takes the number of one break' }
  const missing = Object.entries({ owner, reason, until }).find(([, value]) => !value?.trim())
  if (missing) return { wrong: `it needs --${missing[0]}` }
  const day = new Date(until)
  if (Number.isNaN(day.getTime())) return { wrong: `${until} is no day: 2026-12-31 is` }
  return { id, owner: owner!, reason: reason!, until: day, by }
}

async function explain(words: string[], say: Say): Promise<number> {
  if (asksForHelp(words)) return helped(say)
  const told = explainedIn(words)
  if ('wrong' in told) return helped(say, told.wrong)
  const { id, owner, reason, until: day, by } = told
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  await using operator = openOperator()
  const cause = `${owner}, until ${day.toISOString()}`
  const deed = { verb: 'reconcile explain', target: `break ${id}`, cause, reason }
  const performed = await perform(operator, { ...deed, by: operatorName(by) }, async () => {
    const noted = await explainBreak(books.sql, id, { owner, reason, until: day })
    if (!noted) return { refused: `no break ${id} is open` }
    return { done: `noted: break ${id} rests until ${day.toISOString()}` }
  })
  say(wordsOf(performed))
  return 'done' in performed ? 0 : 1
}

/** Exit code 0 when it was asked for, 2 when it was told wrongly, and what was wrong. */
function helped(say: Say, wrong?: string): number {
  say(wrong === undefined ? usage : `${usage}\nnot understood: ${wrong}`)
  return wrong === undefined ? 0 : 2
}

/** What was found, for a person. */
export function textOf(
  found: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  const { breaks, matched, items, unread, tookMs, unreadable } = found
  return [
    `${counted(items, 'item')} compared in ${tookMs} ms${unread > 0 ? `, ${unread} of them not read outside so far` : ''}`,
    ...matched.map(
      ({ asset, agrees, differs }) =>
        `  ${asset}: ${amountText(agrees, asset)} agree, ${amountText(differs, asset)} do not`,
    ),
    ...(isProviderAsked ? [] : ['no key of the provider: nothing was compared with it']),
    ...(unreadable === undefined ? [] : [`not everything outside can be read: ${unreadable}`]),
    ...breaks.flatMap((one) => [
      breakLine(one),
      `      ${one.about}`,
      ...(one.reason ? [`      ${one.owner}: ${one.reason}`] : []),
      `      to do: ${ruleNamed(one.rule)?.remedy ?? 'the rule is no more: explain it'}`,
      `             ${commandFor(one)}`,
    ]),
    ...(open.length > 0 ? ['open, item by item'] : []),
    ...open.map((one) => `  ${itemLine(one)}`),
    verdictOn(found, open, isProviderAsked),
  ].join('\n')
}

/** Nothing is called balanced while anything is open, or was not compared. */
function verdictOn(
  { breaks, unread, unreadable }: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  if (breaks.length > 0) return `open breaks: ${breaks.length}`
  if (unread > 0 || unreadable !== undefined || !isProviderAsked)
    return 'nothing differs of what was compared, which is not everything'
  if (open.length > 0)
    return `nothing differs, and ${counted(open.length, 'item')} ${open.length === 1 ? 'is' : 'are'} open`
  return 'the books balance'
}
