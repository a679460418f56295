import { empty, fill, h, itemLink, short, timeElement } from '/console/dom.js'
import { ausd, fiat } from '/console/money.js'
import { moneyList } from '/console/money-list.js'
import { setFilter } from '/console/route.js'

/** Maximum numbers of messages kept and rows shown, so that a page left open for days stays fast. */
const keptMax = 5_000
const shownMax = 200

const flows = [
  ['', 'All'],
  ['in', 'Money in'],
  ['out', 'Money out'],
  ['users', 'Users'],
  ['webhook', 'Webhooks'],
]

let kept = []
let known = new Set()
const keyOf = ({ number, at }) => `${number} ${at}`

/** Stores a message, newest last. Returns false for a repeat after a reconnect. */
export function remember(heard) {
  if (known.has(keyOf(heard))) return false
  known.add(keyOf(heard))
  kept.push(heard)
  if (kept.length > 2 * keptMax) {
    kept = kept.slice(-keptMax)
    known = new Set(kept.map(keyOf))
  }
  return true
}

const textOf = (heard) => [heard.says, heard.subject, heard.item, heard.wallet, heard.txHash, heard.reason].join(' ')

const matches = (heard, filters) => {
  const [flow, text] = [filters.get('flow'), filters.get('text')]
  if (flow && heard.flow !== flow) return false
  if (filters.get('odd') && !heard.odd) return false
  return !text || textOf(heard).toLowerCase().includes(text.toLowerCase())
}

const amountOf = (heard) => [heard.fiat && fiat(heard.fiat), heard.ausdMicro && ausd(heard.ausdMicro)].filter(Boolean)

function rowOf(heard) {
  const target = heard.item ?? heard.wallet
  return h(
    'tr',
    { class: heard.odd ? 'odd' : undefined },
    h('td', {}, timeElement(heard.at, true)),
    h('td', {}, h('span', { class: `flow ${heard.flow}` }, heard.flow)),
    h(
      'td',
      { class: 'says' },
      target ? rowLink(target, heard.says) : heard.says,
      heard.reason ? h('span', { class: 'reason' }, ` ${heard.reason}`) : undefined,
    ),
    h(
      'td',
      { class: 'number' },
      amountOf(heard).map((text) => h('span', { class: 'amount' }, text)),
    ),
    idCell('item', heard.item && itemLink(heard.item)),
    idCell('wallet', heard.wallet && heard.wallet !== heard.item && itemLink(heard.wallet)),
    idCell('transaction', heard.txHash && h('span', { class: 'id' }, short(heard.txHash))),
  )
}

/** Returns a cell with its column name in `data-name`, which a narrow page shows because it hides the header. */
const idCell = (name, id) => (id ? h('td', { class: 'ref', 'data-name': name }, id) : h('td', {}))

const rowLink = (id, words) => h('a', { href: `#/item/${encodeURIComponent(id)}`, 'data-row': true }, words)

const columns = ['Time', 'Flow', 'Event', 'Amount', 'Item', 'Wallet', 'Transaction']

/** Returns the view of money in flight, the latest items, and live messages, newest first. */
export function motionView({ filters, latest, isPaused }) {
  const body = h('tbody')
  const table = h(
    'table',
    { class: 'moves stacks' },
    h('caption', { class: 'unseen' }, 'Messages from all services, newest first'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        columns.map((name) => h('th', { scope: 'col' }, name)),
      ),
    ),
    body,
  )
  const place = h('div', { class: 'scroll' })
  const money = moneyList()
  let waiting = []
  let isDrawing = false

  const emptyWords = () => {
    if (kept.length > 0)
      return empty(
        `None of the ${kept.length} messages received match these filters.`,
        'Choose All to show every flow.',
      )
    if (isPaused()) return empty('Paused: no messages are received.', 'Press p to resume.')
    if (latest.get('deaf') && !latest.get('listening'))
      return empty(latest.get('deaf').reason, 'You can still find items by id.')
    return h('p', { class: 'quiet' }, 'Messages appear here as they are published.')
  }
  const drawAll = () => {
    const fitting = kept.filter((heard) => matches(heard, filters)).slice(-shownMax)
    fill(body, fitting.reverse().map(rowOf))
    fill(place, fitting.length > 0 ? table : emptyWords())
  }
  const drawWaiting = () => {
    isDrawing = false
    const fitting = waiting.filter((heard) => matches(heard, filters)).slice(-shownMax)
    waiting = []
    if (body.childElementCount === 0) return drawAll()
    body.prepend(...fitting.reverse().map(rowOf))
    while (body.childElementCount > shownMax) body.lastElementChild.remove()
  }
  drawAll()
  money.draw(latest.get('overview'))
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'motion' },
      heading(),
      money.element,
      h('h3', { class: 'apart' }, 'Messages'),
      bar(filters),
      place,
    ),
    hear: (event, heard) => {
      if (event === 'overview') return money.draw(heard)
      if (event === 'deaf' || event === 'listening') return drawAll()
      if (event !== 'motion') return
      waiting.push(heard)
      if (waiting.length > keptMax) waiting.shift()
      if (!isDrawing) requestAnimationFrame(drawWaiting)
      isDrawing = true
    },
    refresh: drawAll,
  }
}

const heading = () => h('h2', { id: 'motion' }, 'Money in motion')

function bar(filters) {
  const choice = flows.map(([value, name]) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String((filters.get('flow') ?? '') === value),
        click: () => setFilter('flow', value),
      },
      name,
    ),
  )
  const text = h('input', {
    id: 'text',
    type: 'text',
    value: filters.get('text') ?? '',
    autocomplete: 'off',
    change: ({ target }) => setFilter('text', target.value.trim()),
  })
  const odd = h('input', {
    id: 'odd',
    type: 'checkbox',
    checked: filters.get('odd') === '1',
    change: ({ target }) => setFilter('odd', target.checked ? '1' : ''),
  })
  return h(
    'div',
    { class: 'bar', role: 'group', 'aria-label': 'Filters' },
    h('div', { class: 'choice' }, choice),
    h('label', { for: 'text' }, 'containing'),
    text,
    odd,
    h('label', { for: 'odd' }, 'problems only'),
  )
}
