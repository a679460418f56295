import type { RouteAnswer } from '#shared/api/route'
import type { GetStatement } from '#shared/api/statement'
import { okOf, serviceMs } from '#shared/client/client'
import { rateText } from '#shared/language/receipt'
import { dateIn, dateStartMs } from '#shared/language/time'
import { fiatOf } from '#shared/money/pair'
import { day, exactWorth, localWorth, money, type PageSection, type ReferenceApp, time, zoneOfUser } from '../app'
import { download, facts, field, fill, h } from '../dom'
import { step } from '../step'

type Statement = RouteAnswer<typeof GetStatement>
type Balance = keyof Statement['opening']

const dayMs = 86_400_000

export function statementSection(app: ReferenceApp): PageSection {
  const { t, client } = app
  let isChosen = false
  const day = (label: string) =>
    field(
      label,
      h('input', {
        type: 'date',
        input: () => {
          isChosen = true
        },
      }),
    )
  const [from, until] = [day(t.from), day(t.until)]
  const propose = (nowMs: number) => {
    const today = dateIn(zoneOfUser(app), nowMs)
    from.input.value = `${today.slice(0, 8)}01`
    until.input.value = today
  }
  propose(serviceMs())
  /** Returns the period of the chosen days. It includes the last one, whereas the interface excludes `to`. */
  const period = async () => {
    // Lines have the chain's time, which may be ahead of the browser's.
    if (!isChosen) propose(Number(await app.chain.nowSeconds()) * 1_000)
    const read = (one: typeof from) => one.read((text) => text || undefined, t.chooseDay)
    const startMs = (one: typeof from) => dateStartMs(zoneOfUser(app), read(one))
    const isoOf = (ms: number) => new Date(ms).toISOString()
    return { from: isoOf(startMs(from)), to: isoOf(startMs(until) + dayMs) }
  }
  const paper = h('div')
  const show = step(app, t.showStatement, [from.element, until.element], async () => {
    const statement = okOf(await client.statement(await period()))
    fill(paper, statementOf(app, statement))
    return t.lines(statement.items.length)
  })
  const csv = step(
    app,
    t.downloadCsv,
    [],
    async () => {
      const csvText = okOf(await client.statementCsv(await period()))
      download(`statement-${from.input.value}-${until.input.value}.csv`, 'text/csv', csvText)
      return undefined
    },
    '',
  )
  return { slug: 'statement', element: h('div', {}, show.element, csv.element, paper) }
}

function statementOf(app: ReferenceApp, statement: Statement): HTMLElement[] {
  const { t } = app
  const { wallet, from, asOf, opening, items, closing } = statement
  const names = Object.keys(t.balances) as Balance[]
  const amount = (name: Balance, minor: string) => money(app, minor, name === 'payouts' ? 'IDR' : 'AUSD')
  const balance = (name: Balance, minor: string) =>
    name === 'payouts' ? amount(name, minor) : exactWorth(app, minor, name === 'debt' ? 'up' : 'down')
  const balances = (title: string, at: string, of: Statement['opening']) => [
    h('h3', {}, `${title} (${time(app, at)})`),
    facts(names.map((name) => [t.balances[name], balance(name, of[name])] as const)),
  ]
  const changes = ({ in: up, out: down }: Statement['items'][number]) =>
    names
      .flatMap((name) => [
        ...(up[name] ? [`${t.balances[name]} +${amount(name, up[name])}`] : []),
        ...(down[name] ? [`${t.balances[name]} \u2212${amount(name, down[name])}`] : []),
      ])
      .join(', ')
  const local = ({ fiat, pair, ausd, in: up, out: down }: Statement['items'][number]): string | undefined => {
    if (fiat && pair) return money(app, fiat, fiatOf(pair))
    const worth = localWorth(app, ausd, up.debt || down.debt ? 'up' : 'down')
    return worth && t.roughly(worth)
  }
  const lines = items.map((item) =>
    h(
      'tr',
      {},
      h(
        'td',
        {},
        t.statementKinds[item.kind],
        h('small', {}, time(app, item.at)),
        h('small', {}, changes(item) || t.unchanged),
      ),
      h(
        'td',
        { class: 'number' },
        local(item) ?? money(app, item.ausd),
        local(item) !== undefined && h('small', {}, money(app, item.ausd)),
      ),
    ),
  )
  const heads = [t.entry, t.amount].map((name) => h('th', { scope: 'col' }, name))
  const table = h(
    'table',
    {},
    h('caption', {}, t.statementOf(wallet)),
    h('thead', {}, h('tr', {}, heads)),
    h('tbody', {}, lines),
  )
  return [
    ...convertedAt(app),
    h('button', { type: 'button', class: 'unprinted', click: () => window.print() }, t.print),
    ...balances(t.opening, from, opening),
    table,
    ...balances(t.closing, asOf, closing),
  ]
}

/** Returns the note on the rate of what is converted, because a printed statement is read later. */
function convertedAt(app: ReferenceApp): HTMLElement[] {
  const { t, language, rate } = app
  if (!rate) return []
  const text = rateText[language](money(app, rate.rate, fiatOf(rate.pair)))
  return [h('p', { class: 'note' }, t.convertedAt(text, day(app, new Date(serviceMs()).toISOString())))]
}
