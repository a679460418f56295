import { copyButton, empty, fill, h, itemLink, timeElement } from '/console/dom.js'
import { go } from '/console/route.js'
import { get } from '/console/session.js'

const periods = [
  ['', 'began'],
  ['ended', 'ended'],
  ['affected', 'were in progress'],
]
const kinds = [
  ['', 'all'],
  ['topup', 'top-up'],
  ['settlement', 'settlement'],
  ['cashout', 'cash-out'],
  ['send', 'send (of one wallet)'],
]
const currencies = [
  ['', '–'],
  ['IDR', 'IDR'],
  ['MYR', 'MYR'],
  ['AUSD', 'AUSD'],
]

/** Fields of the form, as `ops find` has them. */
const fields = [
  { name: 'amount', label: 'Amount' },
  { name: 'currency', label: 'Currency', choices: currencies },
  { name: 'when', label: 'Items that', choices: periods },
  { name: 'from', label: 'From', type: 'datetime-local' },
  { name: 'to', label: 'To', type: 'datetime-local' },
  { name: 'kind', label: 'Kind', choices: kinds },
  { name: 'state', label: 'State' },
  { name: 'channel', label: 'Channel or bank code' },
  { name: 'wallet', label: 'Wallet' },
  { name: 'receipt', label: 'Bank receipt number of a payment' },
  { name: 'digits', label: 'Last digits of a bank account' },
]

/** Converts a time between the address, which has UTC, and a field, which has the time zone of the browser. */
const toField = (iso) => {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
const fromField = (local) => new Date(local).toISOString()

/** Returns the view that finds payments, cash-outs and sends by what is known about them. */
export function searchView({ filters, isPaused }) {
  const place = h('div', { 'aria-live': 'polite' })
  let asking

  const load = async () => {
    if (filters.size === 0) return
    asking?.abort()
    asking = new AbortController()
    fill(place, h('p', { class: 'quiet' }, 'Searching'))
    try {
      fill(place, resultOf(await get(`/console/find?${filters}`, asking.signal)))
    } catch (error) {
      if (error.name !== 'AbortError') fill(place, empty(`Could not search: ${error.message}`))
    }
  }
  if (isPaused()) fill(place, empty('Paused: no requests are sent.', 'Press p to resume.'))
  else void load()
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'search' },
      h('h2', { id: 'search' }, 'Search'),
      h(
        'p',
        { class: 'quiet' },
        'Without times: the last 7 days, or all days of a wallet. To open an item by its id, use Find above.',
      ),
      formOf(filters),
      place,
    ),
    refresh: load,
    leave: () => asking?.abort(),
  }
}

function formOf(filters) {
  const submit = (event) => {
    event.preventDefault()
    const typed = new URLSearchParams()
    for (const { name, type } of fields) {
      const value = event.target.elements[name].value.trim()
      if (value !== '') typed.set(name, type ? fromField(value) : value)
    }
    go(`/search${typed.size > 0 ? `?${typed}` : ''}`)
  }
  return h(
    'form',
    { submit, class: 'search', 'aria-label': 'Search' },
    fields.map((field) => fieldOf(field, filters.get(field.name) ?? '')),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'submit', class: 'primary' }, 'Search'),
      h('button', { type: 'button', click: () => go('/search') }, 'Clear'),
    ),
  )
}

function fieldOf({ name, label, type = 'text', choices }, value) {
  const id = `by-${name}`
  const field = choices
    ? h(
        'select',
        { id, name },
        choices.map(([one, words]) => h('option', { value: one, selected: one === value }, words)),
      )
    : h('input', {
        id,
        name,
        type,
        autocomplete: 'off',
        spellcheck: 'false',
        value: type === 'text' ? value : toField(value),
      })
  return h('div', { class: 'field' }, h('label', { for: id }, label), field)
}

function resultOf({ asOf, wrong, columns, items, lacks = [] }) {
  if (wrong) return h('p', { class: 'bad', role: 'alert' }, wrong)
  const users = new Set(items.map(({ wallet }) => wallet)).size
  const head = h(
    'p',
    { class: 'quiet' },
    `${items.length} found, of ${users} ${users === 1 ? 'wallet' : 'wallets'}, as of `,
    timeElement(asOf),
  )
  const warnings = lacks.map((what) => h('p', { class: 'warn' }, what))
  if (items.length === 0)
    return [head, ...warnings, empty('No item matches.', 'Leave a field empty, or choose a longer period.')]
  return [
    head,
    ...warnings,
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'stacks listed found' },
        h('caption', { class: 'unseen' }, 'Items found, newest first'),
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
          items.map((item) =>
            h(
              'tr',
              {},
              columns.map((name) => cellOf(name, item)),
            ),
          ),
        ),
      ),
    ),
  ]
}

function cellOf(name, item) {
  const value = item[name]
  switch (name) {
    case 'created':
    case 'updated':
      return h('td', {}, h('time', { datetime: value }, new Date(value).toLocaleString()))
    case 'state':
      return h(
        'td',
        { class: 'says' },
        h('a', { href: `#/item/${encodeURIComponent(item.item)}`, 'data-row': true }, value.replaceAll('_', ' ')),
      )
    case 'item':
    case 'wallet':
      return h('td', { class: 'below' }, itemLink(value), ' ', copyButton(value))
    case 'fiat':
    case 'ausd':
      return h('td', { class: 'number' }, value)
    default:
      return h('td', {}, value)
  }
}
