import { attentionView } from '/console/attention.js'
import { fill, h, timeElement } from '/console/dom.js'
import { itemView } from '/console/item.js'
import { motionView, remember } from '/console/motion.js'
import { go, routeNow } from '/console/route.js'
import { searchView } from '/console/search.js'
import { get, keepToken, listen, Refused, takeToken } from '/console/session.js'
import { stateView } from '/console/state.js'

/** Views by their name in the route. */
const views = new Map([
  ['motion', { name: 'Motion', view: motionView }],
  ['search', { name: 'Search', view: searchView }],
  ['state', { name: 'State', view: stateView }],
  ['attention', { name: 'Attention', view: attentionView }],
  ['item', { name: 'Item', view: itemView }],
])

const content = document.getElementById('content')
const status = document.getElementById('status')
const pauseButton = document.getElementById('pause')
const find = document.getElementById('find')

/** Last event of each kind, so that a newly opened view has data at once. */
const latest = new Map()
let shown
let connection
let paused = false
let live = false

takeToken()

function show() {
  const { view, id, filters } = routeNow()
  const { name, view: open } = views.get(view) ?? views.get('motion')
  const key = `${view}/${id}`
  shown?.leave?.()
  shown = open({ id, filters, latest, isPaused: () => paused })
  fill(content, shown.element)
  document.title = `${id || name} · Console`
  if (shown.key !== key) window.scrollTo(0, 0)
  for (const link of document.querySelectorAll('#views a')) {
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

function hear(event, data) {
  latest.set(event, data)
  if (event === 'motion' && !remember(data)) return
  if (event === 'listening') live = true
  if (live) say('Live')
  if (event === 'deaf') {
    live = false
    say(`Not live: ${data.reason}`, true)
  }
  if (event === 'overview') latest.set('asOf', data.asOf)
  shown?.hear?.(event, data)
}

function say(words, bad = false) {
  fill(status, words, ' ', h('span', { class: 'quiet' }, 'as of ', timeElement(new Date().toISOString())))
  status.dataset.bad = String(bad)
}

/** Keeps the one connection for live data open, and reconnects when it is lost. */
async function connect() {
  const here = new AbortController()
  connection = here
  while (!here.signal.aborted) {
    try {
      live = false
      say('Connecting')
      await findSandbox()
      await listen('/console/live', hear, here.signal)
      say('Connection lost, reconnecting', true)
    } catch (error) {
      if (here.signal.aborted) return
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) return askForToken(error)
      say(`Not connected: ${error.message}`, true)
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

/** Adds the sandbox view if the stack has a sandbox; otherwise its file is not even served. */
async function findSandbox() {
  if (views.has('sandbox')) return
  const { sandbox } = await get('/console/about')
  if (!sandbox) return
  const { sandboxView } = await import('/console/sandbox.js')
  views.set('sandbox', { name: 'Sandbox', view: sandboxView })
  drawNavigation()
  show()
}

/** Pauses or resumes. Pausing closes the connection, so that no process reads anything for this page. */
function pause() {
  paused = !paused
  pauseButton.setAttribute('aria-pressed', String(paused))
  fill(pauseButton, paused ? 'Resume' : 'Pause')
  if (paused) {
    connection?.abort()
    say('Paused')
  } else {
    void connect()
    shown?.refresh?.()
  }
}

function askForToken({ status: code, message }) {
  say('Locked', true)
  const field = h('input', { id: 'token', type: 'password', autocomplete: 'off', required: true })
  const submit = (event) => {
    event.preventDefault()
    keepToken(field.value)
    show()
    void connect()
  }
  const form = h(
    'form',
    { submit },
    h('label', { for: 'token' }, 'Token'),
    field,
    h('button', { type: 'submit' }, 'Open'),
  )
  fill(
    content,
    h(
      'section',
      { class: 'empty' },
      h('h2', {}, 'Console locked'),
      h('p', { role: 'alert' }, message),
      h(
        'p',
        { class: 'quiet' },
        'The address that the start command prints has the token after the #. In a deployment, the token is CONSOLE_TOKEN of the gateway.',
      ),
      code === 401 ? form : undefined,
    ),
  )
  field.focus()
}

function drawNavigation() {
  const links = listed().map(([view, { name }]) => h('li', {}, h('a', { href: `#/${view}`, 'data-view': view }, name)))
  fill(document.getElementById('views'), h('ul', {}, links))
  fill(document.getElementById('last-view'), String(links.length))
}

/** Returns the views in the navigation; items are reached by id only. */
const listed = () => [...views].filter(([view]) => view !== 'item')

const isTyping = ({ target }) => /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)

function step(by) {
  const links = [...content.querySelectorAll('[data-row]')]
  const at = links.indexOf(document.activeElement)
  const next = links[at === -1 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]
  next?.focus()
}

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === 'Escape' && isTyping(event)) return event.target.blur()
  if (isTyping(event)) return
  const names = listed().map(([name]) => name)
  const keys = {
    '/': () => find.focus(),
    p: pause,
    j: () => step(1),
    k: () => step(-1),
  }
  const act = keys[event.key] ?? (names[event.key - 1] && (() => go(`/${names[event.key - 1]}`)))
  if (!act) return
  event.preventDefault()
  act()
})

pauseButton.addEventListener('click', pause)
find.addEventListener('keydown', (event) => {
  const id = find.value.trim()
  if (event.key !== 'Enter' || id === '') return
  go(`/item/${encodeURIComponent(id)}`)
  find.value = ''
  content.focus()
})
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) {
    takeToken()
    connection?.abort()
    void connect()
  }
  show()
})

drawNavigation()
show()
void connect()
