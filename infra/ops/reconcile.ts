import { parseArgs } from 'node:util'
import { explainBreak } from '#infra/books/explain'
import { openBooksOf, type Reconciled, reconcile as reconcileBooks } from '#infra/books/reconcile'
import { ruleNamed } from '#infra/books/rules/catalogue'
import { amountText, breakLine, csvOf } from '#infra/books/text'
import { booksDatabaseUrl, operatorPlace } from '#infra/ops/place'
import type { Verb } from '#infra/ops/verb'
import type { Say } from '#shared/command'

const usage = `usage: bun run ops reconcile [--whole] [--csv | --json]
       bun run ops reconcile explain <break> --owner <who> --reason <why> --until <day>

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
  if (csv) say(csvOf(found.breaks, found.agreed))
  else say(json ? jsonOf(found) : textOf(found, books.provider !== undefined))
  const counts = found.breaks.some(({ standing }) => standing === 'counts')
  return counts || found.unreadable !== undefined ? 1 : 0
}

async function explain(words: string[], say: Say): Promise<number> {
  const word = { type: 'string' } as const
  const read = parsed(words, { owner: word, reason: word, until: word })
  const { owner, reason, until } = (read?.values ?? {}) as Record<string, string | undefined>
  const [id, ...more] = read?.positionals ?? []
  const day = new Date(until ?? '')
  if (!id || !/^[0-9]{1,18}$/.test(id) || more.length > 0) return told(say)
  if (!owner || !reason || Number.isNaN(day.getTime())) return told(say)
  await using books = openBooksOf(operatorPlace(), booksDatabaseUrl())
  const noted = await explainBreak(books.sql, id, { owner, reason, until: day })
  say(noted ? `noted: break ${id} rests until ${day.toISOString()}` : `no break ${id} is open`)
  return noted ? 0 : 1
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
export function textOf(found: Reconciled, isProviderAsked: boolean): string {
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
    breaks.length === 0 ? 'the books balance' : `open breaks: ${breaks.length}`,
  ].join('\n')
}

const jsonOf = (found: Reconciled): string =>
  JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value), 2)
