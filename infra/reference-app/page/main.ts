import { privateKeyToAccount } from 'viem/accounts'
import { type Client, type Language, languages, type Me, okOf, openClient, openVisitor } from '#shared/client/client'
import { localOf, type PageSection, type ReferenceApp } from './app'
import { type ClientConfig, openChain } from './chain'
import { field, fill, h, InvalidField, select } from './dom'
import { languageOf, type PayoutPrice, type Priced } from './format'
import { openOrders } from './orders'
import { recording } from './request-log'
import { openRequests } from './requests'
import { accountSection } from './sections/account'
import { activitySection, pageItems } from './sections/activity'
import { cashOutSection, sendSection } from './sections/cash-out'
import { borrowSection, repaySection, topUpSection } from './sections/pay'
import { recordSection } from './sections/record'
import { statementSection } from './sections/statement'
import { faultText } from './step'
import { english, type Texts } from './texts/english'
import { indonesian } from './texts/indonesian'
import { malay } from './texts/malay'
import { isKey, keyOf, signIn } from './wallet'

const catalogue: Record<Language, Texts> = { en: english, id: indonesian, ms: malay }
const { gateway = '', rpc = '' } = document.body.dataset
const requests = openRequests(sessionStorage)
/** Interval in ms at which the page reads everything although nothing has changed, so that it notices an outage. */
const refreshMs = 15_000
/** Time in ms after which the page reads a rate again. */
const rateMs = 300_000
/** Times in ms after which it asks again if there was none. There may be none for cash-outs for days. */
const noRateMs = 10_000
const noPayoutMs = 60_000
/** Controller that is aborted when the page is built again in another language. */
let shown = new AbortController()

async function show(language: Language): Promise<void> {
  shown.abort()
  shown = new AbortController()
  const t = catalogue[language]
  document.documentElement.lang = language
  document.title = t.title
  const main = h('main', { id: 'content', tabindex: -1 })
  const nav = h('nav', { 'aria-label': t.sectionsLabel })
  const skip = (event: Event) => {
    event.preventDefault() // The fragment of the address names the shown section, so the link must not change it.
    main.focus()
  }
  const names = languages.map((one) => [one, catalogue[one].languageName] as const)
  const chosen = select(names, language)
  chosen.addEventListener('change', () => {
    localStorage.setItem('language', chosen.value)
    void show(languageOf(chosen.value, []))
    document.querySelector('select')?.focus()
  })
  fill(
    document.body,
    h('a', { class: 'skip', href: '#content', click: skip }, t.skip),
    h('header', {}, h('h1', {}, t.title), field(t.language, chosen).element),
    nav,
    main,
    h('footer', {}, requests.show(t), h('p', { class: 'quiet' }, t.testOnly)),
  )
  const key = keyOf(localStorage)
  if (!key) return fill(main, welcome(t))
  fill(main, h('p', { role: 'status' }, t.loading))
  try {
    await open({ language, t, main, nav, key })
  } catch (error) {
    const again = h('button', { type: 'button', click: () => void show(language) }, t.tryAgain)
    fill(main, h('p', { role: 'alert' }, faultText(t, error)), again)
  }
}

function welcome(t: Texts): HTMLElement {
  const create = h('button', { type: 'button', class: 'main', click: () => signIn() }, t.createWallet)
  const own = field(t.ownKey, h('input', { autocomplete: 'off', spellcheck: 'false' }), t.ownKeyHint)
  const use = (event: Event) => {
    event.preventDefault()
    try {
      signIn(own.read((text) => (isKey(text) ? text : undefined), t.notAKey))
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error // The field shows this error.
    }
  }
  const form = h('form', { novalidate: true, submit: use }, own.element, h('button', {}, t.useKey))
  return h('section', {}, h('h2', {}, t.welcome), h('p', {}, t.welcomeIntro), create, form)
}

type Parts = {
  language: Language
  t: Texts
  main: HTMLElement
  nav: HTMLElement
  key: `0x${string}`
}

async function open({ language, t, main, nav, key }: Parts): Promise<void> {
  const { signal } = shown
  const account = privateKeyToAccount(key)
  const ask = recording(requests.report)
  const target = { baseUrl: gateway, language, fetch: ask }
  const config: ClientConfig = okOf(await openVisitor(target).config())
  const acceptedTerms = () => localStorage.getItem('terms') ?? undefined
  const client = openClient({ ...target, account, acceptedTerms })
  // The next reading is the retry.
  const reader = openClient({ ...target, patienceMs: 0, account, acceptedTerms })
  const [readRate, readPayout] = [openRate(noRateMs), openRate(noPayoutMs, 'pay_out')]
  const readAllowance = async (me: Me) => {
    if (me.autoRepay?.source !== 'wallet') return undefined
    return chain.allowanceMicro().then(String, () => undefined)
  }
  const read = async (by: Client) => {
    const me = okOf(await by.me())
    const activity = okOf(await by.activity({ limit: pageItems }))
    const hasAusd = me.balance.ausd !== '0'
    const [rate, payout, allowance] = await Promise.all([
      readRate(by, localOf({ me }).pair),
      hasAusd ? readPayout(by, config.cashouts.pair) : undefined,
      readAllowance(me),
    ])
    return { me, activity, rate, payout, allowance }
  }
  const orders = openOrders(localStorage, account.address)
  const chain = openChain({ account, config, rpcUrl: rpc, ask, orders })
  const lost = h('p', { class: 'warning', role: 'status' })
  const app = {
    language,
    t,
    account,
    client,
    config,
    chain,
    orders,
    returnedFrom: returnedFrom(),
    ...(await read(client)),
    refresh: () => void refresh(),
  }
  const shownPlaces = placesOf(app)
  let isReading = false
  const refresh = async () => {
    if (isReading) return
    isReading = true
    try {
      Object.assign(app, await read(reader))
      lost.textContent = ''
      for (const { sections } of shownPlaces) for (const { update } of sections) update?.()
    } catch (error) {
      lost.textContent = `${t.stale} ${faultText(t, error)}`
    }
    isReading = false
  }
  if (signal.aborted) return
  showPlaces(app, shownPlaces, { main, nav, lost })
  const refreshShown = () => document.hidden || void refresh()
  document.addEventListener('visibilitychange', refreshShown, { signal })
  void client.watch(refreshShown, { signal })
  const timer = setInterval(refreshShown, refreshMs)
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Returns a reader of a rate. It asks again when the last one is old, or of another pair. */
function openRate(againMs: number, use?: 'pay_out') {
  let rate: PayoutPrice | undefined
  let next = { pair: '', atMs: 0 }
  return async (by: Client, pair: Priced['pair']) => {
    if (next.pair === pair && performance.now() < next.atMs) return rate
    const answer = await by.quote(pair, use).catch(() => undefined)
    rate = undefined
    if (answer && 'ok' in answer) {
      const { cashoutFee, reason } = answer.ok
      rate = { pair, rate: answer.ok.rate, reason, ...(cashoutFee && { cashoutFee }) }
    }
    next = { pair, atMs: performance.now() + (rate ? rateMs : againMs) }
    return rate
  }
}

/** Takes the payment out of the page's address, so that a later load says nothing about it. */
function returnedFrom(): string | null {
  const url = new URL(location.href)
  const payment = url.searchParams.get('payment')
  url.searchParams.delete('payment')
  history.replaceState(null, '', url)
  return payment
}

/** Places of the page, each with its sections. The first section is shown when the place is chosen. */
const places: readonly (readonly [keyof Texts['places'], readonly ((app: ReferenceApp) => PageSection)[]])[] = [
  ['home', [accountSection]],
  ['in', [topUpSection, repaySection]],
  ['borrow', [borrowSection]],
  ['out', [cashOutSection, sendSection]],
  ['history', [activitySection, statementSection, recordSection]],
]

type Place = { readonly name: string; readonly sections: readonly PageSection[] }

const placesOf = (app: ReferenceApp): Place[] =>
  places.map(([place, sections]) => ({ name: app.t.places[place], sections: sections.map((one) => one(app)) }))

const mark = (link: HTMLElement, current: 'page' | 'true' | undefined): void => {
  if (current) link.setAttribute('aria-current', current)
  else link.removeAttribute('aria-current')
}

const listOf = (links: readonly HTMLElement[]) =>
  h(
    'ul',
    {},
    links.map((link) => h('li', {}, link)),
  )

/** Asks the user to accept the terms, until the current version is accepted. */
function termsNotice(t: Texts, { terms }: ClientConfig): HTMLElement | null {
  if (!terms || localStorage.getItem('terms') === terms.version) return null
  const accept = () => {
    localStorage.setItem('terms', terms.version)
    notice.remove()
  }
  const notice = h(
    'p',
    { class: 'warning' },
    h('a', { href: terms.url, target: '_blank', rel: 'noreferrer' }, t.terms(terms.version)),
    ' ',
    h('button', { type: 'button', click: accept }, t.acceptTerms),
  )
  return notice
}

/** Shows one section, with the tabs of its place. Hidden sections keep their input. */
function showPlaces(
  { t, config }: ReferenceApp,
  all: readonly Place[],
  { main, nav, lost }: { main: HTMLElement; nav: HTMLElement; lost: HTMLElement },
): void {
  const tabs = h('nav', { class: 'tabs' })
  const views = all.flatMap((place) =>
    place.sections.map(({ slug, element }) => {
      const heading = h('h2', { tabindex: -1, id: `to-${slug}` }, t.sections[slug])
      const panel = h('section', { 'aria-labelledby': `to-${slug}` }, heading, element)
      return { place, slug, heading, panel, tab: h('a', { href: `#${slug}` }, t.sections[slug]) }
    }),
  )
  const links = all.map(({ name, sections }) => h('a', { href: `#${sections[0]!.slug}` }, name))
  const go = (isMove: boolean) => {
    const wanted = views.find(({ slug }) => location.hash === `#${slug}`)
    const current = wanted ?? views[0]!
    for (const view of views) view.panel.hidden = view !== current
    all.forEach((place, at) => {
      const isAlone = place.sections.length === 1
      mark(links[at]!, place === current.place ? (isAlone ? 'page' : 'true') : undefined)
    })
    const siblings = views.filter(({ place }) => place === current.place)
    for (const view of siblings) mark(view.tab, view === current ? 'page' : undefined)
    tabs.hidden = siblings.length === 1
    tabs.setAttribute('aria-label', current.place.name)
    fill(tabs, listOf(siblings.map(({ tab }) => tab)))
    if (isMove) wanted?.heading.focus()
  }
  fill(nav, listOf(links))
  fill(
    main,
    lost,
    termsNotice(t, config),
    tabs,
    views.map(({ panel }) => panel),
  )
  go(false)
  addEventListener('hashchange', () => go(true), { signal: shown.signal })
}

void show(languageOf(localStorage.getItem('language'), navigator.languages))
