import { copyButton, empty, fill, h, inWords, itemLink, short, timeElement } from '/console/dom.js'
import { setFilter } from '/console/route.js'
import { get } from '/console/session.js'

const forms = [
  ['', 'Timeline'],
  ['compact', 'Compact'],
  ['json', 'JSON'],
]

/** Delay before an item is reloaded after a message about it, in ms, so that a burst causes one request. */
const settleMs = 400

/** Returns the view of one item across all services, found by any of its ids. */
export function itemView({ id, filters, isPaused }) {
  const place = h('div')
  let seen
  let later
  let asking

  const draw = () => {
    if (!seen) return
    fill(place, historyOf(seen, filters.get('form') ?? ''))
  }
  const load = async () => {
    asking?.abort()
    asking = new AbortController()
    try {
      seen = await get(`/console/items/${encodeURIComponent(id)}`, asking.signal)
      draw()
    } catch (error) {
      if (error.name === 'AbortError') return
      fill(place, empty(`Could not load: ${error.message}`))
    }
  }
  const loadLater = () => {
    if (isPaused()) return
    clearTimeout(later)
    later = setTimeout(load, settleMs)
  }
  if (id === '')
    fill(
      place,
      empty('No id given.', 'Enter the id of a payment, payout, quote, transaction or wallet, or a provider id.'),
    )
  else if (isPaused()) fill(place, empty('Paused: no requests are sent.', 'Press p to resume.'))
  else {
    fill(place, h('p', { class: 'quiet' }, 'Loading'))
    void load()
  }
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'item' },
      h(
        'div',
        { class: 'row titled' },
        h('h2', { id: 'item' }, h('span', { class: 'id whole' }, id || 'Item')),
        id === '' ? undefined : copyButton(id),
      ),
      bar(
        filters,
        () => seen,
        (saved) => {
          seen = saved
          draw()
        },
      ),
      place,
    ),
    hear: (event, heard) => {
      if (event === 'motion' && [heard.item, heard.wallet].some((one) => one && mentions(seen, id, one))) loadLater()
    },
    refresh: load,
    leave: () => {
      clearTimeout(later)
      asking?.abort()
    },
  }
}

const mentions = (seen, id, heard) => heard === id || (seen?.items ?? []).some((item) => item.id === heard)

function bar(filters, seen, open) {
  const choice = forms.map(([value, name]) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String((filters.get('form') ?? '') === value),
        click: () => setFilter('form', value),
      },
      name,
    ),
  )
  const save = () => {
    if (!seen()) return
    const blob = new Blob([JSON.stringify(seen(), null, 2)], { type: 'application/json' })
    const link = h('a', { href: URL.createObjectURL(blob), download: `${seen().id}.json` })
    link.click()
    URL.revokeObjectURL(link.href)
  }
  const file = h('input', {
    id: 'saved',
    class: 'unseen',
    type: 'file',
    accept: 'application/json',
    change: async ({ target }) => open(JSON.parse(await target.files[0].text())),
  })
  return h(
    'div',
    { class: 'bar', role: 'group', 'aria-label': 'Format' },
    h('div', { class: 'choice' }, choice),
    h('button', { type: 'button', click: save }, 'Save'),
    file,
    h('label', { for: 'saved', class: 'button' }, 'Open saved file'),
  )
}

function historyOf(seen, form) {
  if (form === 'json') return h('pre', { tabindex: 0 }, JSON.stringify(seen, null, 2))
  const nothing = seen.items.length === 0 && seen.lines.length === 0
  return [
    h('p', { class: 'quiet' }, 'as of ', timeElement(seen.asOf, true)),
    seen.unseen.map(({ what, why }) => h('p', { class: 'warn' }, `Unavailable: ${what}: ${why}`)),
    nothing && seen.unseen.length === 0
      ? empty(`Not found: ${seen.id}.`, 'It may belong to another environment.')
      : undefined,
    h('div', { class: 'items' }, seen.items.map(cardOf)),
    seen.lines.length > 0 ? tableOf(seen.lines, form) : undefined,
  ]
}

function cardOf({ kind, id, wallet, state, reason, facts }) {
  const all = { ...(wallet && wallet !== id ? { wallet } : {}), ...facts }
  const rows = Object.entries(all).map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, valueElement(value))),
  )
  return h(
    'section',
    { class: 'card', 'aria-label': `${kind} ${id}` },
    h(
      'h3',
      {},
      kind,
      ' ',
      h('span', { class: 'state' }, state),
      reason ? h('span', { class: 'reason' }, ` ${reason}`) : undefined,
    ),
    h('p', {}, itemLink(id, id), ' ', copyButton(id)),
    h('dl', {}, rows),
  )
}

const isId =
  /^(0x[0-9a-fA-F]{40}|0x[0-9a-fA-F]{64}|pay_[\w-]{22}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|p[a-z]{1,3}-[\w-]{8,60})$/
const valueElement = (value) => (isId.test(value) ? itemLink(value) : h('span', { class: 'value' }, value))

/** Returns the timeline as a table; each wait is a row with a bar proportional to the longest one. */
function tableOf(lines, form) {
  const longest = Math.max(1, ...lines.map(({ wait }) => wait?.ms ?? 0))
  const shown = form === 'compact' ? lines.filter(({ entry, wait }) => wait || entry.isOdd || !isDetail(entry)) : lines
  return h(
    'div',
    { class: 'scroll' },
    h(
      'table',
      { class: 'history stacks' },
      h('caption', { class: 'unseen' }, 'Timeline, oldest first'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Time', 'Source', 'Event', 'Details', 'Id'].map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        shown.map(({ entry, wait }) => (wait ? waitRow(wait, longest) : entryRow(entry))),
      ),
    ),
  )
}

const isDetail = ({ what }) => ['booked', 'attempt', 'lane', 'message'].includes(what)

const entryRow = ({ at, where, what, id, says, isOdd }) =>
  h(
    'tr',
    { class: isOdd ? 'odd' : undefined },
    h('td', {}, at ? timeElement(at, true) : h('span', { class: 'quiet' }, 'now')),
    h('td', {}, h('span', { class: `where ${where}` }, where)),
    h('td', { class: 'rest' }, what),
    h('td', { class: 'says' }, isOdd ? h('span', { class: 'warn' }, '! ') : undefined, says),
    h('td', { class: 'id below' }, short(id)),
  )

function waitRow({ ms, to, reason }, longest) {
  const mark = h('span', { class: 'mark', 'aria-hidden': 'true' })
  // The width is set from script, because the page's policy allows no inline style.
  mark.style.width = `${Math.max(2, Math.round((ms / longest) * 100))}%`
  const words = to ? `waited ${inWords(ms)} for ${reason}` : `waiting for ${reason}, ${inWords(ms)} so far`
  return h(
    'tr',
    { class: to ? 'wait' : 'wait open' },
    h('td', {}),
    h('td', { colspan: 4 }, h('span', { class: 'gauge' }, mark), ' ', words),
  )
}
