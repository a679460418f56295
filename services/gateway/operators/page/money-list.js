import { empty, fill, h, inWords, itemLink } from '/console/dom.js'
import { ausd, fiat } from '/console/money.js'

const columns = ['In this state', 'Kind', 'State', 'Amount', 'Wallet', 'Item']

function rowOf({ kind, id, wallet, state, reason, fiat: paid, ausdMicro, since }, now) {
  const amounts = [paid && fiat(paid), ausd(ausdMicro)].filter(Boolean)
  return h(
    'tr',
    { class: state === 'review' ? 'odd' : undefined },
    h('td', { class: 'number' }, inWords(Math.max(0, now - Date.parse(since)))),
    h('td', {}, kind),
    h(
      'td',
      { class: 'says' },
      h('a', { href: `#/item/${encodeURIComponent(id)}`, 'data-row': true }, state.replaceAll('_', ' ')),
      reason ? h('span', { class: 'reason' }, ` ${reason}`) : undefined,
    ),
    h(
      'td',
      { class: 'number' },
      amounts.map((text) => h('span', { class: 'amount' }, text)),
    ),
    h('td', { class: 'rest' }, itemLink(wallet)),
    h('td', { class: 'below' }, itemLink(id)),
  )
}

const tableOf = (caption, rows, now) =>
  h(
    'div',
    { class: 'scroll' },
    h(
      'table',
      { class: 'stacks listed' },
      h('caption', { class: 'unseen' }, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => rowOf(row, now)),
      ),
    ),
  )

/** Returns the list of money in flight and the latest items, from the last overview. */
export function moneyList() {
  const place = h('div')
  const draw = (seen) => {
    if (!seen) return fill(place, h('p', { class: 'quiet' }, 'Reading the latest items.'))
    if (!seen.money) return fill(place, empty('The latest items cannot be read right now.'))
    const { inFlight, latest } = seen.money
    const now = Date.parse(seen.asOf)
    fill(
      place,
      h('h3', {}, 'In flight'),
      inFlight.length > 0
        ? tableOf('Money in flight, oldest first', inFlight, now)
        : h('p', { class: 'quiet' }, 'No money is in flight.'),
      h('h3', { class: 'apart' }, 'Latest'),
      latest.length > 0
        ? tableOf('Payments and cash-outs that changed last, newest first', latest, now)
        : h('p', { class: 'quiet' }, 'No payment or cash-out yet.'),
    )
  }
  return { element: place, draw }
}
