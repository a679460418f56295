import type { Sql } from 'postgres'
import { numberedCause } from '#infra/operations/audit-log/numbered-cause'
import { type Performed, perform } from '#infra/operations/audit-log/perform'
import { performHere } from '#infra/operations/audit-log/perform-here'
import { type OpenItem, readSheet } from '#infra/operations/books/balance-sheet'
import { explainBreak, mutedUpTo } from '#infra/operations/books/explain'
import { openBooksOf, type Reconciled, reconcile as reconcileBooks } from '#infra/operations/books/reconcile'
import { ruleNamed } from '#infra/operations/books/rules/catalogue'
import { breakLine, csvOf } from '#infra/operations/books/text'
import { itemLine } from '#infra/operations/cli/books'
import { type CommandResult, changing, reading, type Verb } from '#infra/operations/cli/command'
import { BreakExplain } from '#infra/operations/cli/local-commands'
import type { Operator } from '#infra/operations/cli/operator'
import { remedyFor } from '#infra/operations/cli/remedy'
import { booksDatabaseUrl, operatorPlace } from '#infra/operations/place'
import { counted } from '#infra/operations/text'
import { timeFrom } from '#infra/operations/timeline/search'
import { amountText } from '#shared/money/text'
import { nothing } from '#shared/operators/may-perform'

const explaining = 'reconcile explain <break> --owner <who> --reason <why> --until <day> [--by <who>]'

const compare = reading({
  does: 'compare rows and journals with chain and provider, since the last run or, with --whole, from the beginning',
  usage: `reconcile [--whole] [--csv | --json]\n       bun run ops ${explaining}`,
  options: { whole: { type: 'boolean' }, csv: { type: 'boolean' } },
  read: async ({ options: { whole, csv, json } }): Promise<CommandResult> => {
    await using books = await openBooksOf(operatorPlace(), booksDatabaseUrl())
    const options = { whole: whole === true, listed: csv === true || json === true }
    const found = await reconcileBooks(books, options)
    const { items: open } = await readSheet(books.sql)
    const isProviderAsked = books.place.provider !== undefined
    const counts = found.breaks.some(({ standing }) => standing === 'counts')
    return {
      text: csv ? csvOf(found.breaks, found.agreed) : textOf(found, open, isProviderAsked),
      data: { ...found, open },
      ok: !counts && found.unreadable === undefined,
      lacks: [
        ...(found.unreadable === undefined ? [] : [`could not read ${found.unreadable}`]),
        ...(found.unread > 0 ? [`${counted(found.unread, 'item')} not yet read from chain or provider`] : []),
        ...(isProviderAsked ? [] : [notAsked]),
      ],
    }
  },
})

const explain = changing({
  does: 'assign an owner to a break and mute its alert until a date',
  usage: explaining,
  takes: 1,
  options: { owner: { type: 'string' }, until: { type: 'string' } },
  faultIn: ([id = ''], { owner = '', until = '' }) => {
    if (!/^#?[0-9]{1,18}$/.test(id)) return 'expected the number of one break'
    if (String(owner).trim() === '') return '--owner is required'
    if (until === '') return '--until is required'
    const untilMs = timeFrom(String(until))?.getTime() ?? Number.NaN
    return untilMs > Date.now()
      ? undefined
      : `--until ${until} is not a time in the future, such as 2030-12-31 or 2030-12-31T02:00Z`
  },
  change: async ({ words: [given = ''], options: { owner, until }, reason, by }, operator) => {
    await using books = await openBooksOf(operatorPlace(), booksDatabaseUrl())
    const rest = { owner: String(owner), until: timeFrom(String(until))!, reason, by }
    return [await explained(operator, books.sql, { id: given.replace('#', ''), ...rest })]
  },
})

export const reconcile: Verb = {
  does: 'compare rows, journals, chain and provider; explain a break',
  among: { explain },
  run: (words, say) => (words[0] === 'explain' ? explain.run(words.slice(1), say) : compare.run(words, say)),
}

type Explanation = { id: string; owner: string; reason: string; until: Date; by: string }

const explainVerb = 'reconcile explain'

export async function explained(
  operator: Pick<Operator, 'sql' | 'signing'>,
  books: Sql,
  { id, owner, reason, until, by }: Explanation,
): Promise<Performed> {
  const target = `break ${id}`
  const explanation = `${owner}, until ${until.toISOString()}, up to ${await mutedUpTo(books, id)}: ${reason}`
  const cause = await numberedCause(operator.sql, { verb: explainVerb, target }, explanation)
  const command = { verb: explainVerb, target, cause, reason, by }
  const work = async () =>
    (await explainBreak(books, id, { owner, reason, until }))
      ? { done: `break ${id} muted until ${until.toISOString()}, up to its present amount` }
      : { refused: `break ${id} is not open` }
  return perform(operator, command, (commandId) => {
    const asked = { command: commandId, by, reason, break: id, owner, until: until.toISOString() }
    return performHere(operator, BreakExplain, asked, { work, worth: async () => nothing })
  })
}

const notAsked = 'no provider key: nothing was compared with the provider'

export function textOf(found: Reconciled, open: readonly OpenItem[], isProviderAsked: boolean): string {
  const { breaks, matched, items, unread, tookMs, unreadable } = found
  return [
    `${counted(items, 'item')} compared in ${tookMs} ms${unread > 0 ? `, ${unread} of them not yet read from chain or provider` : ''}`,
    ...matched.map(
      ({ asset, agrees, differs }) =>
        `  ${asset}: ${amountText(agrees, asset)} matched, ${amountText(differs, asset)} differ`,
    ),
    ...(isProviderAsked ? [] : [notAsked]),
    ...(unreadable === undefined ? [] : [`could not read everything: ${unreadable}`]),
    ...breaks.flatMap((one) => [
      breakLine(one),
      `      ${one.about}`,
      ...(one.reason ? [`      ${one.owner}: ${one.reason}`] : []),
      `      to do: ${ruleNamed(one.rule)?.remedy ?? 'its rule was removed: explain it'}`,
      `             ${remedyFor(one)}`,
    ]),
    ...(open.length > 0 ? ['open items'] : []),
    ...open.map((one) => `  ${itemLine(one)}`),
    verdictOn(found, open, isProviderAsked),
  ].join('\n')
}

function verdictOn(
  { breaks, unread, unreadable }: Reconciled,
  open: readonly OpenItem[],
  isProviderAsked: boolean,
): string {
  if (breaks.length > 0) return `open breaks: ${breaks.length}`
  if (unread > 0 || unreadable !== undefined || !isProviderAsked) return 'no breaks, but not everything was compared'
  if (open.length > 0) return `no breaks; ${counted(open.length, 'item')} open`
  return 'the books balance'
}
