import { okOf } from '#shared/client/client'
import { money, type PageSection, type ReferenceApp, time } from '../app'
import { copyButton, facts, field, h, liveContent, select } from '../dom'
import { percentText } from '../format'
import { step } from '../step'
import { keyOf, signOut } from '../wallet'

export function accountSection(app: ReferenceApp): PageSection {
  const { t } = app
  const state = h('div')
  const show = liveContent(state, (me: ReferenceApp['me']) => [
    h('h3', {}, t.creditLine),
    me.cycle && h('p', { class: 'due' }, me.cycle.sentence),
    me.defaulted && h('p', { class: 'warning' }, t.defaulted),
    me.frozen && h('p', { class: 'warning' }, t.frozen),
    facts([
      [t.available, money(app, me.available)],
      [t.owed, money(app, me.drawn)],
      [t.due, me.cycle ? time(app, me.cycle.dueAt) : t.nothingDue],
      [t.collateral, money(app, me.collateral.value)],
      [t.limit, `${money(app, me.limit)} (${percentText(me.ratioBps, app.language)})`],
      [t.score, me.score],
    ]),
    me.held.map(({ ausd, until, sentence }) =>
      h('p', { class: 'note' }, `${money(app, ausd)}, ${time(app, until)}: ${sentence}`),
    ),
    h('h3', {}, t.wallet),
    facts([
      [t.balance, money(app, me.balance.ausd)],
      [t.gas, me.balance.native === '0' ? t.noGasYet : t.hasGas],
      [t.leftToTopUp, me.limits.topup ? money(app, me.limits.topup.left) : t.unknownNow],
      [t.leftToCashOut, me.limits.cashout ? money(app, me.limits.cashout.left) : t.unknownNow],
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
    show(app.me)
    identity.update()
  }
  update()
  return { slug: 'account', element, update }
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
