import { parseArgs } from 'node:util'
import { explainBreak } from '#infra/books/explain'
import { openBooksOf, type Reconciled, reconcile as reconcileBooks } from '#infra/books/reconcile'
import { ruleNamed } from '#infra/books/rules/catalogue'
import { type OpenItem, readSheet } from '#infra/books/sheet'
import { breakLine, csvOf } from '#infra/books/text'
import { itemLine } from '#infra/ops/books'
import { perform } from '#infra/ops/deed.store'
import { openOperator, operatorName } from '#infra/ops/operator'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import { jsonOf, type Verb, wordsOf } from '#infra/ops/verb'
import type { Say } from '#shared/command'
import { amountText } from '#shared/money/text'

const usage = `usage: bun run ops reconcile [--whole] [--csv | --json]
       bun run ops reconcile explain <break> --owner <who> --reason <why> --until <day> [--by <who>]

Reads what is new at the chain and at the provider, and compares it with rows and journals, from the
last time on; with --whole from the beginning. Exits 0 when nothing is open beyond its grace.`

/** Compares, and says what does not agree, since when, and what to do. */
export const reconcile: Verb = {
  does: 'compare rows, journals, chain and provider; explain a break',
  run: (words, say) => (words[0] === 'explain' ? explain(words.slice(1), say) : run(words, say)),
}

async function run(words: string[], say: Say): Promise<number> {
  const flag = { type: 'boolean', default: false } as const
  const read = parsed(words, { whole: flag, csv: flag, json: flag })
  if (!read || read.positionals.length > 0) return told(say)
  const { whole, csv, json } = read.values as Record<'whole' | 'csv' | 'json', boolean>
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  const found = await reconcileBooks(books, { whole, listed: csv || json })
  const { items: open } = await readSheet(books.sql)
  if (csv) say(csvOf(found.breaks, found.agreed))
  else say(json ? jsonOf({ ...found, open }) : textOf(found, open, books.provider !== undefined))
  const counts = found.breaks.some(({ standing }) => standing === 'counts')
  return counts || found.unreadable !== undefined ? 1 : 0
}

async function explain(words: string[], say: Say): Promise<number> {
  const word = { type: 'string' } as const
  const read = parsed(words, { owner: word, reason: word, until: word, by: word })
  const { owner, reason, until, by } = (read?.values ?? {}) as Record<string, string | undefined>
  const [id, ...more] = read?.positionals ?? []
  const day = new Date(until ?? '')
  if (!id || !/^[0-9]{1,18}$/.test(id) || more.length > 0) return told(say)
  if (!owner || !reason || Number.isNaN(day.getTime())) return told(say)
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

function parsed(words: string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options']) {
  try {
    return parseArgs({ args: words, allowPositionals: true, options: options! })
  } catch {
    return undefined
  }
}

function told(say: Say): number {
  say(usage)
  return 2
}

/** What was found, for a person. */
export function textOf(
  found: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  const { breaks, matched, items, unread, tookMs, unreadable } = found
  return [
    `${items} items compared in ${tookMs} ms${unread > 0 ? `, ${unread} of them not read outside so far` : ''}`,
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
  if (open.length > 0) return `nothing differs, and ${open.length} items are open`
  return 'the books balance'
}
