import { type Activity, type Item, okOf } from '#shared/client/client'
import { kindTexts } from '#shared/language/receipt'
import { inLocalMoney, isOverdue, localWorth, money, type PageSection, type ReferenceApp, time, worth } from '../app'
import { copyButton, facts, field, h, liveContent, select } from '../dom'
import { inCents, percentText } from '../format'
import { step } from '../step'
import { keyOf, signOut } from '../wallet'
import { autoRepayTexts } from './auto-repay'
import { amountsOf } from './offer'

type Shown = Pick<ReferenceApp, 'me' | 'rate' | 'allowance'> &
  Pick<Activity, 'inFlight'> & { returned: Item | undefined }

/** Shows AUSD (10⁻⁶) at a glance: the user's currency large, the AUSD small. */
function glance(app: ReferenceApp, micro: string, rounding: 'down' | 'up'): HTMLElement {
  const local = localWorth(app, micro, rounding)
  if (local === undefined) return h('p', { class: 'glance' }, money(app, micro))
  return h('p', { class: 'glance' }, h('strong', {}, local), h('small', {}, money(app, inCents(micro, rounding))))
}

export function accountSection(app: ReferenceApp): PageSection {
  const { t } = app
  const state = h('div')
  const show = liveContent(state, ({ me, inFlight, returned }: Shown) => [
    returned &&
      h(
        'p',
        { class: 'note', role: 'status' },
        `${kindTexts[returned.kind][app.language]}: ${inLocalMoney(app, returned.sentence)}`,
      ),
    me.defaulted && h('p', { class: 'warning' }, t.defaulted),
    me.frozen && h('p', { class: 'warning' }, t.frozen),
    me.drawn !== '0' && [h('h3', {}, t.owed), glance(app, me.drawn, 'up')],
    me.cycle && h('p', { class: isOverdue(me) ? 'warning' : 'due' }, me.cycle.sentence),
    me.drawn !== '0' && h('p', { class: 'quiet' }, t.debtInDollars),
    autoRepayOf(app),
    h('h3', {}, t.available),
    glance(app, me.available, 'down'),
    inFlight.length > 0 && [
      h('h3', {}, t.inProgress),
      ...inFlight.map((item) =>
        h(
          'p',
          {},
          h('a', { href: '#activity' }, `${kindTexts[item.kind][app.language]} ${amountsOf(app, item)}`),
          h('small', {}, inLocalMoney(app, item.sentence)),
        ),
      ),
    ],
    h('h3', {}, t.creditLine),
    facts([
      [t.due, me.cycle ? time(app, me.cycle.dueAt) : t.nothingDue],
      [t.collateral, worth(app, me.collateral.value)],
      [t.limit, `${worth(app, me.limit)}, ${percentText(me.ratioBps, app.language)}`],
      [t.score, me.score],
    ]),
    me.held.map(({ ausd, until, sentence }) =>
      h('p', { class: 'note' }, `${worth(app, ausd)}, ${time(app, until)}: ${sentence}`),
    ),
    h('h3', {}, t.wallet),
    facts([
      [t.balance, worth(app, me.balance.ausd)],
      [t.gas, me.balance.native === '0' ? t.noGasYet : t.hasGas],
      [t.leftToTopUp, me.limits.topup ? worth(app, me.limits.topup.left) : t.unknownNow],
      [t.leftToCashOut, me.limits.cashout ? worth(app, me.limits.cashout.left) : t.unknownNow],
    ]),
  ])
  const identity = identityOf(app)
  const address = h('p', { class: 'mono' }, app.account.address)
  const element = h(
    'div',
    {},
    identity.element,
    state,
    address,
    copyButton(t.copyAddress, t.copied, () => app.account.address),
    countryOf(app),
    h(
      'details',
      {},
      h('summary', {}, t.key),
      h('p', {}, t.keyWarning),
      copyButton(t.copyKey, t.copied, () => keyOf(localStorage) ?? ''),
      h('button', { type: 'button', class: 'small', click: signOut }, t.signOut),
    ),
  )
  const update = () => {
    // Whoever is not verified begins there. An element that is moved loses the focus.
    const isFirst = element.firstChild === identity.element
    if (isFirst && app.me.verified) state.after(identity.element)
    if (!isFirst && !app.me.verified) element.prepend(identity.element)
    const returned = app.activity.items.find(({ id }) => id === app.returnedFrom)
    show({ me: app.me, inFlight: app.activity.inFlight, rate: app.rate, allowance: app.allowance, returned })
    identity.update()
  }
  update()
  return { slug: 'account', element, update }
}

/** Shows the automatic repayment if it is on. */
function autoRepayOf(app: ReferenceApp): (HTMLElement | undefined)[] {
  const texts = autoRepayTexts(app)
  if (!texts) return []
  const { line, warning } = texts
  return [
    h('p', { class: 'note' }, `${line} `, h('a', { href: '#repay' }, app.t.autoRepayChange)),
    ...(warning ? [h('p', { class: 'warning' }, warning)] : []),
  ]
}

function identityOf(app: ReferenceApp) {
  const { t } = app
  const way = h('p')
  const verify = step(app, t.verify, [], async () => {
    const { url } = okOf(await app.client.verification())
    if (url === null) return t.verified
    way.replaceChildren(h('a', { class: 'button main', href: url }, t.openVerification))
    way.querySelector('a')?.focus()
    return undefined
  })
  const sentence = h('p', { role: 'status' })
  const update = () => {
    const { verified, verification } = app.me
    const text = verified ? t.verified : verification.sentence
    if (sentence.textContent !== text) sentence.textContent = text
    verify.element.hidden = way.hidden = verified || verification.nextAction !== 'verify'
  }
  const element = h('div', {}, h('h3', {}, t.identity), sentence, verify.element, way)
  return { element, update }
}

function countryOf(app: ReferenceApp): HTMLElement {
  const { t } = app
  const names = new Intl.DisplayNames(app.language, { type: 'region' })
  const countries = ['ID', 'MY'].map((code) => [code, names.of(code) ?? code] as const)
  const input = select([['', t.choose], ...countries], app.me.user.country ?? '')
  const country = field(t.country, input, t.countryHint)
  const save = async () => {
    const code = country.read((text) => text || undefined, t.choose)
    okOf(await app.client.setCountry(code))
    return t.saved
  }
  return step(app, t.save, [country.element], save, '').element
}
