import { copyButton, empty, fill, h, inWords, itemLink, timeElement } from '/console/dom.js'
import { setFilter } from '/console/route.js'
import { get } from '/console/session.js'

const kinds = [
  ['', 'All'],
  ['review', 'Reviews'],
  ['frozen', 'Frozen wallets'],
  ['identity', 'Identities'],
  ['anomaly', 'Anomalies'],
  ['break', 'Books'],
  ['lane', 'Lanes'],
]

/** Returns the view of everything that needs attention, with its age; dead letters are grouped by error. */
export function attentionView({ filters, latest, isPaused }) {
  const place = h('div')
  let seen
  let counted = countsIn(latest.get('overview'))

  const draw = () =>
    seen &&
    fill(
      place,
      listOf(seen, filters.get('kind') ?? '', latest.get('overview')),
      elsewhere(latest.get('overview')),
      groupsOf(seen.dead),
    )
  const load = async () => {
    try {
      seen = await get('/console/attention')
      draw()
    } catch (error) {
      fill(place, empty(`Could not load: ${error.message}`))
    }
  }
  if (isPaused()) fill(place, empty('Paused: no requests are sent.', 'Press p to resume.'))
  else {
    fill(place, h('p', { class: 'quiet' }, 'Loading'))
    void load()
  }
  const choice = kinds.map(([value, name]) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String((filters.get('kind') ?? '') === value),
        click: () => setFilter('kind', value),
      },
      name,
    ),
  )
  return {
    element: h(
      'section',
      { 'aria-labelledby': 'attention' },
      h('h2', { id: 'attention' }, 'Needs attention'),
      h('div', { class: 'bar', role: 'group', 'aria-label': 'Filters' }, h('div', { class: 'choice' }, choice)),
      place,
    ),
    // The view reloads only when a count changed, not on a timer.
    hear: (event, data) => {
      if (event !== 'overview') return
      const now = countsIn(data)
      if (now !== counted) void load()
      counted = now
    },
    refresh: load,
  }
}

const countsIn = (seen) =>
  JSON.stringify([
    (seen?.services ?? []).map(({ figures }) => [
      figures?.deadLetters,
      figures?.inReview,
      figures?.frozenWallets,
      figures?.anomalies,
      figures?.breaks?.open,
    ]),
    (seen?.needs ?? []).map((says) => says.replace(/, oldest .*$/, '')),
  ])

function listOf({ exceptions, asOf, namedMax }, kind, overview) {
  const shown = exceptions.filter((one) => kind === '' || one.kind === kind)
  const columns = ['Age', 'Kind', 'Id', 'Problem', 'Command']
  const heading = h('p', { class: 'quiet' }, `${shown.length} of ${exceptions.length}, as of `, timeElement(asOf))
  if (shown.length === 0)
    return [
      heading,
      empty(
        exceptions.length === 0
          ? overview?.needs.length > 0
            ? 'No item needs attention.'
            : 'Nothing needs attention.'
          : 'Nothing of this kind needs attention.',
      ),
    ]
  const now = Date.parse(asOf)
  return [
    heading,
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'stacks listed' },
        h('caption', { class: 'unseen' }, 'Items that need attention, oldest first'),
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
          shown.map(({ kind: which, id, says, since, command }) =>
            h(
              'tr',
              {},
              h('td', { class: 'number' }, inWords(now - Date.parse(since))),
              h('td', {}, which),
              h('td', { class: 'rest' }, itemLink(id)),
              h('td', { class: 'says' }, h('a', { href: `#/item/${encodeURIComponent(id)}`, 'data-row': true }, says)),
              h('td', { class: 'below' }, commandOf(command)),
            ),
          ),
        ),
      ),
    ),
    shown.length >= namedMax
      ? h('p', { class: 'warn' }, `Showing the oldest ${namedMax} of each kind; there may be more.`)
      : undefined,
  ]
}

/** Returns links to alerts without an item, such as pauses and services that do not respond. */
const elsewhere = ({ needs = [] } = {}) =>
  needs.length > 0
    ? h(
        'p',
        { class: 'quiet' },
        h('a', { href: '#/state' }, 'State'),
        ` lists all alerts (${needs.length}), including those without an item.`,
      )
    : undefined

const commandOf = (words) => [h('code', { class: 'value' }, words), ' ', copyButton(words)]

function groupsOf(dead) {
  const groups = dead.map(({ id, service, subject, error, count, firstAt, lastAt, sample }) =>
    h(
      'section',
      { class: 'card', 'aria-label': `Dead letters of ${service}` },
      h('h4', {}, `${count} × ${subject}`),
      h('p', { class: 'reason' }, error),
      h('p', { class: 'quiet' }, `${service}; first `, timeElement(firstAt), ', last ', timeElement(lastAt)),
      h('details', {}, h('summary', {}, 'Example'), h('p', {}, itemLink(sample, sample))),
      h('p', {}, commandOf(`bun run ops dead-letters show ${id}`)),
    ),
  )
  return h(
    'section',
    { 'aria-label': 'Dead letters' },
    h('h3', { class: 'apart' }, 'Dead letters by error'),
    groups.length > 0 ? h('div', { class: 'cards' }, groups) : empty('No dead letters.'),
  )
}
