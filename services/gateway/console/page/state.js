import { empty, fill, h, inWords, short, timeElement } from '/console/dom.js'
import { ausd, fiat } from '/console/money.js'

/** Older than that in a state, somebody should look why. */
const oldMs = 600_000
const lowPercent = 70

const figuresOf = (seen, name) => seen.services.find((one) => one.name === name)?.figures ?? {}
const whole = (value) => (value === undefined || value === null ? undefined : String(value))

const titled = (title, ...content) =>
  h('section', { class: 'card', 'aria-label': title }, h('h3', {}, title), ...content)
const wide = (card) => {
  card.classList.add('wide')
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
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, name),
            h('td', { class: `number ${mark ?? ''}` }, value),
          ),
        ),
    ),
  )

function moneyCard(seen) {
  const [payments, payouts] = [figuresOf(seen, 'payments'), figuresOf(seen, 'payouts')]
  const operations = figuresOf(seen, 'chain-relayer').operations ?? {}
  const oldest = Object.entries({ ...payments.oldestMs, ...payouts.oldestMs })
    .filter(([, ms]) => ms > 0)
    .map(([state, ms]) => [
      `oldest ${state.replaceAll('_', ' ')}`,
      inWords(ms),
      ms > oldMs ? 'warn' : undefined,
    ])
  return titled(
    'Money on its way',
    lines([
      ['checkouts open', whole(payments.awaitingPayment)],
      ['payments in flight', whole(payments.inFlight)],
      ['held', whole(payments.onHold)],
      ['cash-outs in flight', whole(payouts.inFlight)],
      ['orders that wait for a lane', whole(operations.waiting)],
      ['orders on the chain', whole(operations.assigned)],
      ...oldest,
    ]),
  )
}

/** What needs a person, as `bun run ops status` says it; what was not seen is named, and is not nothing. */
function attentionCard({ needs, unseen }) {
  const nothing =
    unseen.length === 0
      ? h('p', { class: 'good' }, 'Nothing.')
      : h('p', {}, 'Nothing of what was seen.')
  const card = titled(
    'What needs a person',
    needs.length > 0
      ? h(
          'ul',
          {},
          needs.map(({ says, ageMs }) =>
            h('li', { class: 'bad' }, says, ageMs === undefined ? '' : `, for ${inWords(ageMs)}`),
          ),
        )
      : nothing,
    unseen.map((what) => h('p', { class: 'warn' }, `Not seen: ${what}`)),
    h(
      'p',
      { class: 'quiet' },
      'Not judged here: whether treasury, rupiah and lanes are above their floors. ',
      h('code', {}, 'bun run ops status'),
      ' does.',
    ),
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
          ['promised of it', micro(payments?.promisedMicro)],
          ['owed to cash-outs', micro(payments?.owedToCashoutsMicro)],
          ['free', micro(payments?.freeMicro)],
          ['rupiah at the provider', rupiah(payouts?.balanceMinor)],
          ['not paid out yet', rupiah(payouts?.unpaidMinor)],
          ['free', rupiah(payouts?.freeMinor)],
        ])
      : h('p', { class: 'quiet' }, 'Neither treasury nor balance was read yet.'),
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
      : h('p', { class: 'quiet' }, 'pricing told of no rate.'),
  )
}

function lanesCard(seen) {
  const { lanes } = figuresOf(seen, 'chain-relayer')
  const reader = figuresOf(seen, 'indexer-reader')
  return titled(
    'Lanes and chain',
    lanes === undefined || Object.values(lanes).length === 0
      ? h('p', { class: 'quiet' }, lanes ? 'No lane is leased.' : 'chain-relayer told of no lane.')
      : undefined,
    lines([
      ...Object.values(lanes ?? []).map(({ address, nextNonce, fault, balanceWei }) => [
        h('span', { class: 'id' }, short(address)),
        fault
          ? `blocked: ${fault}`
          : `nonce ${nextNonce}${balanceWei ? `, ${coin(balanceWei)}` : ''}`,
        fault ? 'bad' : undefined,
      ]),
      [
        'reader behind',
        reader.lagMs === undefined
          ? undefined
          : `${inWords(reader.lagMs)}, ${reader.lagBlocks} blocks`,
      ],
      ['final block', whole(reader.finalized)],
    ]),
  )
}

/** Wei as coins, three digits behind the point. */
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
      : h('p', { class: 'quiet' }, 'JetStream did not say how full they are.'),
  )
}

function queuesCard({ queues }) {
  const columns = ['Stream', 'Reader', 'Waiting', 'Under way', 'Again']
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
        : h('p', { class: 'quiet' }, 'The bus did not tell of any reader.'),
    ),
  )
}

/** Figures by their path, `oldestMs paid`: a service may add some without asking the page. */
function flat(value, path = []) {
  if (value === null || typeof value !== 'object') return [[path.join(' '), value]]
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, [...path, name]))
}

const shownAs = (name, value) =>
  typeof value === 'number' && /Ms\b/.test(name) && !/AtMs/.test(name)
    ? inWords(value)
    : String(value ?? '–')

/** When nobody could be asked, nobody is silent. */
function presenceOf(copies) {
  if (copies === null) return ['warn', 'not seen']
  return copies > 0 ? ['good', `${copies} up`] : ['bad', 'does not answer']
}

function serviceRow({ name, copies, figures }) {
  const rows = flat(figures).map(([figure, value]) => [figure, shownAs(figure, value)])
  return h(
    'details',
    { id: `service-${name}` },
    h('summary', {}, name, ' ', h('span', { class: presenceOf(copies)[0] }, presenceOf(copies)[1])),
    rows.length > 0 ? lines(rows) : h('p', { class: 'quiet' }, 'It tells no figures.'),
  )
}

const cards = [attentionCard, moneyCard, ratesCard, coverCard, lanesCard, streamsCard, queuesCard]

/** The state of the whole: money on its way, what it stands on, and who is there. */
export function stateView({ latest, isPaused }) {
  const place = h('div')
  const draw = () => {
    const seen = latest.get('overview')
    if (!seen)
      return fill(
        place,
        isPaused()
          ? empty('Paused: nothing is read.', 'Press p to go on.')
          : empty('Not read yet.', 'It is read every ten seconds while somebody watches.'),
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
      h('h3', { class: 'apart' }, 'What each service says of itself'),
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
