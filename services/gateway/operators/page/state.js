import { empty, fill, h, inWords, short, timeElement } from '/console/dom.js'
import { ausd, fiat } from '/console/money.js'

/** Age in one state, in ms, above which a figure is highlighted. */
const oldMs = 600_000
const lowPercent = 70

const figuresOf = (seen, name) => seen.services.find((one) => one.name === name)?.figures ?? {}
const whole = (value) => (value === undefined || value === null ? undefined : String(value))

const titled = (title, ...content) =>
  h('section', { class: 'card', 'aria-label': title }, h('h3', {}, title), ...content)
const wide = (card) => {
  card.classList.add('wide')
  card.tabIndex = 0 // Its table is wider than a phone, and the arrow keys scroll what has the focus.
  return card
}

const lines = (rows) =>
  h(
    'table',
    {},
    h(
      'tbody',
      {},
      rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value, mark]) =>
          h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: `number ${mark ?? ''}` }, value)),
        ),
    ),
  )

function moneyCard(seen) {
  const [payments, payouts] = [figuresOf(seen, 'payments'), figuresOf(seen, 'payouts')]
  const operations = figuresOf(seen, 'chain-relayer').operations ?? {}
  const oldest = Object.entries({ ...payments.oldestMs, ...payouts.oldestMs })
    .filter(([, ms]) => ms > 0)
    .map(([state, ms]) => [`oldest ${state.replaceAll('_', ' ')}`, inWords(ms), ms > oldMs ? 'warn' : undefined])
  return titled(
    'Money in flight',
    lines([
      ['open checkouts', whole(payments.awaitingPayment)],
      ['payments in flight', whole(payments.inFlight)],
      ['payments on hold', whole(payments.onHold)],
      ['cash-outs in flight', whole(payouts.inFlight)],
      ['orders waiting for a lane', whole(operations.waiting)],
      ['orders on the chain', whole(operations.assigned)],
      ...oldest,
    ]),
  )
}

/** Returns the alerts, as in `bun run ops status`, and the parts that could not be checked. */
function attentionCard({ needs, unread }) {
  const nothing =
    unread.length === 0
      ? h('p', { class: 'good' }, 'No alerts.')
      : h('p', {}, 'No alerts in the parts that were checked.')
  const card = titled(
    'Alerts',
    needs.length > 0
      ? h(
          'ul',
          {},
          needs.map((says) => h('li', { class: 'bad' }, says)),
        )
      : nothing,
    unread.map((what) => h('p', { class: 'warn' }, `Not checked: ${what}`)),
  )
  card.classList.add('whole-row')
  return card
}

function coverCard(seen) {
  const [payments, payouts] = [figuresOf(seen, 'payments').cover, figuresOf(seen, 'payouts').cover]
  const micro = (value) => (value === undefined ? undefined : ausd(value))
  const rupiah = (minor) => (minor === undefined ? undefined : fiat({ minor, currency: 'IDR' }))
  return titled(
    'Cover',
    payments || payouts
      ? lines([
          ['treasury', micro(payments?.treasuryMicro)],
          ['committed to top-ups', micro(payments?.promisedMicro)],
          ['owed to cash-outs', micro(payments?.owedToCashoutsMicro)],
          ['free', micro(payments?.freeMicro)],
          ['provider balance', rupiah(payouts?.balanceMinor)],
          ['pending payouts', rupiah(payouts?.unpaidMinor)],
          ['free', rupiah(payouts?.freeMinor)],
        ])
      : h('p', { class: 'quiet' }, 'Treasury and provider balance not read yet.'),
  )
}

function ratesCard(seen) {
  const pairs = Object.entries(figuresOf(seen, 'pricing')).filter(([, one]) => one?.source)
  return titled(
    'Rates',
    pairs.length > 0
      ? lines(
          pairs.map(([pair, { rate, source, ageMs }]) => [
            `${pair}, ${source}`,
            `${rate ?? '–'}, ${inWords(ageMs)} old`,
          ]),
        )
      : h('p', { class: 'quiet' }, 'No data from pricing.'),
  )
}

function lanesCard(seen) {
  const { lanes } = figuresOf(seen, 'chain-relayer')
  const reader = figuresOf(seen, 'indexer-reader')
  return titled(
    'Lanes and chain',
    lanes === undefined || Object.values(lanes).length === 0
      ? h('p', { class: 'quiet' }, lanes ? 'No lanes leased.' : 'No data from chain-relayer.')
      : undefined,
    lines([
      ...Object.values(lanes ?? []).map(({ address, nextNonce, fault, balanceWei }) => [
        h('span', { class: 'id' }, short(address)),
        fault ? `blocked: ${fault}` : `nonce ${nextNonce}${balanceWei ? `, ${coin(balanceWei)}` : ''}`,
        fault ? 'bad' : undefined,
      ]),
      ['indexer lag', reader.lagMs === undefined ? undefined : `${inWords(reader.lagMs)}, ${reader.lagBlocks} blocks`],
      ['finalized block', whole(reader.finalized)],
    ]),
  )
}

/** Formats wei as coins with three decimals. */
const coin = (wei) =>
  `${(BigInt(wei) / 10n ** 15n)
    .toString()
    .padStart(4, '0')
    .replace(/(\d{3})$/, '.$1')} coins`

function streamsCard(seen) {
  const streams = Object.entries(figuresOf(seen, 'gateway').streams ?? {})
  return titled(
    'Streams',
    streams.length > 0
      ? lines(
          streams.map(([name, { usedPercent }]) => [
            name,
            `${usedPercent} % full`,
            usedPercent > lowPercent ? 'bad' : undefined,
          ]),
        )
      : h('p', { class: 'quiet' }, 'Stream usage unavailable.'),
  )
}

function queuesCard({ queues }) {
  const columns = ['Stream', 'Consumer', 'Pending', 'In progress', 'Redelivered']
  const rows = queues.map(({ stream, reader, waiting, underWay, redelivered }) =>
    h(
      'tr',
      { class: waiting > 100 ? 'odd' : undefined },
      [stream, reader].map((name) => h('td', {}, name)),
      [waiting, underWay, redelivered].map((count) => h('td', { class: 'number' }, String(count))),
    ),
  )
  return wide(
    titled(
      'Queues',
      rows.length > 0
        ? h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                columns.map((name) => h('th', { scope: 'col' }, name)),
              ),
            ),
            h('tbody', {}, rows),
          )
        : h('p', { class: 'quiet' }, 'Consumer data unavailable.'),
    ),
  )
}

/** Flattens figures to paths such as `oldestMs paid`, so that new figures appear without a change here. */
function flat(value, path = []) {
  if (value === null || typeof value !== 'object') return [[path.join(' '), value]]
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, [...path, name]))
}

const shownAs = (name, value) =>
  typeof value === 'number' && /Ms\b/.test(name) && !/AtMs/.test(name) ? inWords(value) : String(value ?? '–')

/** Returns the presence of a service; `null` means that the bus could not be asked. */
function presenceOf(copies) {
  if (copies === null) return ['warn', 'unknown']
  return copies > 0 ? ['good', `${copies} up`] : ['bad', 'not responding']
}

function serviceRow({ name, copies, figures }) {
  const rows = flat(figures).map(([figure, value]) => [figure, shownAs(figure, value)])
  return h(
    'details',
    { id: `service-${name}` },
    h('summary', {}, name, ' ', h('span', { class: presenceOf(copies)[0] }, presenceOf(copies)[1])),
    rows.length > 0 ? lines(rows) : h('p', { class: 'quiet' }, 'No figures.'),
  )
}

const cards = [attentionCard, moneyCard, ratesCard, coverCard, lanesCard, streamsCard, queuesCard]

/** Returns the overview of the system: alerts, money in flight, coverage, and services. */
export function stateView({ latest, isPaused }) {
  const place = h('div')
  const draw = () => {
    const seen = latest.get('overview')
    if (!seen)
      return fill(
        place,
        isPaused()
          ? empty('Paused: no requests are sent.', 'Press p to resume.')
          : empty('Loading.', 'Refreshes every 10 seconds while this page is open.'),
      )
    const open = [...place.querySelectorAll('details[open]')].map(({ id }) => id)
    fill(
      place,
      h('p', { class: 'quiet' }, 'as of ', timeElement(seen.asOf)),
      h(
        'div',
        { class: 'cards' },
        cards.map((card) => card(seen)),
      ),
      h('h3', { class: 'apart' }, 'Service details'),
      h('div', { class: 'services' }, seen.services.map(serviceRow)),
    )
    for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  }
  draw()
  return {
    element: h('section', { 'aria-labelledby': 'state' }, h('h2', { id: 'state' }, 'State'), place),
    hear: (event) => event === 'overview' && draw(),
    refresh: draw,
  }
}
