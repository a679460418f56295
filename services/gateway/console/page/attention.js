import { empty, fill, h, inWords, itemLink, timeElement } from '/console/dom.js'
import { setFilter } from '/console/route.js'
import { get } from '/console/session.js'

/** What an operator does about each, as a command; the console itself changes nothing of this. */
const remedies = {
  review: (id) => `bun run ops review show ${id}`,
  frozen: (id) => `bun run ops trace ${id}`,
  anomaly: (id) => `bun run ops trace ${id}`,
  break: (id) => `bun run ops trace ${id}`,
  lane: () => 'bun run ops status',
}

const kinds = [
  ['', 'All'],
  ['review', 'Reviews'],
  ['frozen', 'Frozen wallets'],
  ['anomaly', 'Oddities'],
  ['break', 'Books'],
  ['lane', 'Lanes'],
]

const whyDisabled =
  'Disabled: it moves money or repeats work, so it wants a name and a reason, which the command writes down.'

/** Everything that waits for a person, with its age; dead letters grouped by what ended them. */
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
      fill(place, empty(`This cannot be shown: ${error.message}`))
    }
  }
  if (isPaused()) fill(place, empty('Paused: nothing is asked.', 'Press p to go on.'))
  else {
    fill(place, h('p', { class: 'quiet' }, 'Looking'))
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
      h('h2', { id: 'attention' }, 'What waits for a person'),
      h(
        'div',
        { class: 'bar', role: 'group', 'aria-label': 'Filters' },
        h('div', { class: 'choice' }, choice),
      ),
      place,
    ),
    // The lists are read again when a count of them has changed, and not by the clock.
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
      ...[figures?.deadLetters, figures?.inReview, figures?.frozenWallets, figures?.anomalies],
      figures?.breaks?.open,
    ]),
    (seen?.needs ?? []).map(({ says }) => says),
  ])

function listOf({ exceptions, asOf, namedMax }, kind, overview) {
  const shown = exceptions.filter((one) => kind === '' || one.kind === kind)
  const columns = ['For', 'Kind', 'Id', 'What', 'What to do']
  const heading = h(
    'p',
    { class: 'quiet' },
    `${shown.length} of ${exceptions.length}, as of `,
    timeElement(asOf),
  )
  if (shown.length === 0)
    return [
      heading,
      empty(
        exceptions.length === 0
          ? overview?.needs.length > 0
            ? 'Nothing with an id waits for a person.'
            : 'Nothing waits for a person.'
          : 'None of this kind waits for a person.',
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
        h('caption', { class: 'unseen' }, 'What waits for a person, oldest first'),
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
          shown.map(({ kind: which, id, says, since }) =>
            h(
              'tr',
              {},
              h('td', { class: 'number' }, inWords(now - Date.parse(since))),
              h('td', {}, which),
              h('td', { class: 'rest' }, itemLink(id)),
              h(
                'td',
                { class: 'says' },
                h('a', { href: `#/item/${encodeURIComponent(id)}`, 'data-row': true }, says),
              ),
              h('td', { class: 'below' }, commandOf(remedies[which](id))),
            ),
          ),
        ),
      ),
    ),
    shown.length >= namedMax
      ? h(
          'p',
          { class: 'warn' },
          `Of each kind the oldest ${namedMax} are named; there may be more.`,
        )
      : undefined,
  ]
}

/** Pauses, services that are silent and the like have no row here. */
const elsewhere = ({ needs = [] } = {}) =>
  needs.length > 0
    ? h(
        'p',
        { class: 'quiet' },
        h('a', { href: '#/state' }, 'State'),
        ` counts ${needs.length} that need a person, also what has no id.`,
      )
    : undefined

const commandOf = (words) => h('code', { class: 'value' }, words)

function groupsOf(dead) {
  const groups = dead.map(
    ({ service, consumer, subject, reason, count, firstAt, lastAt, sample }) =>
      h(
        'section',
        { class: 'card', 'aria-label': `Dead letters of ${service}` },
        h('h4', {}, `${count} × ${subject}`),
        h('p', { class: 'reason' }, reason),
        h(
          'p',
          { class: 'quiet' },
          `${service}, read as ${consumer}; first `,
          timeElement(firstAt),
          ', last ',
          timeElement(lastAt),
        ),
        h('details', {}, h('summary', {}, 'One of them'), h('p', {}, itemLink(sample, sample))),
        h(
          'p',
          {},
          h(
            'button',
            { type: 'button', disabled: true, 'aria-describedby': 'why-not' },
            'Redrive the group',
          ),
          ' ',
          commandOf('bun run ops dead-letters'),
        ),
      ),
  )
  return h(
    'section',
    { 'aria-label': 'Dead letters' },
    h('h3', { class: 'apart' }, 'Dead letters, by what ended them'),
    groups.length > 0
      ? [
          h('p', { class: 'quiet', id: 'why-not' }, whyDisabled),
          h('div', { class: 'cards' }, groups),
        ]
      : empty('No service gave up on a message.'),
  )
}
