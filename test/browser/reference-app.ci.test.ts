import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Locator, Page, Route } from 'playwright-core'
import { maxUint256 } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { personOf } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { english } from '#infra/reference-app/page/texts/english'
import { indonesian } from '#infra/reference-app/page/texts/indonesian'
import { malay } from '#infra/reference-app/page/texts/malay'
import { accountTexts } from '#shared/language/account'
import { kindTexts } from '#shared/language/receipt'
import { allowanceOf } from '#test/support/ledger'
import { sharedStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'
import { browserPath, noBrowser, type Opened, openBrowser } from './browser'

// The test is a new user's session on a phone, from the first load to the printed statement.

const found = browserPath()
if (!found) console.warn(noBrowser)
const withBrowser = test.if(found !== undefined)

let stack: RunningStack
let browser: Opened
let page: Page
beforeAll(async () => {
  if (!found) return
  stack = await sharedStack()
  browser = await openBrowser(found)
  page = await browser.open(`${stack.info.sandbox}/app`, { phone: true })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
})

const t = english
const slugs = Object.keys(t.sections) as (keyof typeof t.sections)[]
const shown = (place: Locator) => place.and(page.locator(':visible'))
const placeOf = {
  account: 'home',
  'top-up': 'in',
  repay: 'in',
  borrow: 'borrow',
  'cash-out': 'out',
  send: 'out',
  activity: 'history',
  statement: 'history',
  record: 'history',
} as const satisfies Record<keyof typeof t.sections, keyof typeof t.places>
/**
 * Chooses a place, and in a place with several sections the tab. The page changes the section after the click, and until
 * then a button of the old section may have the same name.
 */
async function go(slug: keyof typeof t.sections, on = page, texts: typeof t = t) {
  const place = placeOf[slug]
  const linkOf = (name: string) => on.getByRole('link', { name, exact: true }).and(on.locator('nav a:visible'))
  await linkOf(texts.places[place]).first().click()
  if (Object.values(placeOf).filter((one) => one === place).length > 1)
    await linkOf(texts.sections[slug]).and(on.locator('.tabs a')).click()
  await on.locator(`#to-${slug}`).waitFor()
}
const press = (name: string) => shown(page.getByRole('button', { name, exact: true })).click()
const type = (label: string, text: string) => shown(page.getByLabel(label)).fill(text)
const see = (text: string | RegExp) => shown(page.getByText(text)).first().waitFor()

async function payThere(): Promise<void> {
  await shown(page.getByRole('link', { name: t.goToPayment })).click()
  await page.getByRole('button', { name: /^Pay / }).click()
  await page.getByRole('link', { name: 'Back to the app' }).click()
  await page.getByRole('heading', { name: t.sections.account }).waitFor()
  await shown(page.locator('.note[role=status]')).waitFor() // It says what has become of this payment.
  expect(page.url()).not.toContain('payment=')
}

const refresh = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

const axe = () => readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8')
/** Returns the accessibility faults of a page. */
async function violationsOf(page: Page, rules = '{}'): Promise<unknown> {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe())
  return page.evaluate(`axe.run(${rules}).then((found) => found.violations)`)
}
const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth)

/** Presses Tab until the element with this text or label has the focus. */
async function tabTo(name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const { activeElement: element } = document
      const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : []
      return `${element?.textContent} ${labels.map(({ textContent }) => textContent).join()}`
    })
    if (focused.includes(name)) return
  }
  throw new Error(`Tab does not reach ${name}`)
}

withBrowser('a text that is no key is refused at its field', async () => {
  await type(t.ownKey, '0x12')
  await press(t.useKey)
  await see(t.notAKey)
})

withBrowser('a newcomer creates a wallet and verifies its owner', async () => {
  await press(t.createWallet)
  await see(t.creditLine)
  await shown(page.getByLabel(t.country)).selectOption('ID')
  await press(t.save)
  await see(t.saved)
  await press(t.verify)
  await page.getByRole('link', { name: t.openVerification }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('link', { name: 'Back to the app' }).click()
  await see(t.verified)
  await see(t.hasGas)
})

withBrowser('the page asks an unverified user for the verification before any form', async () => {
  const other = await browser.open(`${stack.info.sandbox}/app`, { phone: true })
  const see = (text: string) => other.getByText(text, { exact: false }).and(other.locator(':visible')).first().waitFor()
  await other.getByRole('button', { name: t.createWallet }).click()
  for (const slug of ['top-up', 'borrow', 'send'] as const) {
    await go(slug, other)
    await see(accountTexts['verification.none'].en)
    expect(await other.locator('main').getByRole('button').and(other.locator(':visible')).count()).toBe(0)
  }
  await go('cash-out', other)
  await see(t.checkWhenVerified)
  expect(await other.getByRole('button', { name: t.checkAccount }).isVisible()).toBe(false)
  await other.getByRole('link', { name: t.toVerification }).and(other.locator(':visible')).click()
  await other.getByRole('button', { name: t.verify }).waitFor()
  await other.context().close()
})

withBrowser('the keyboard alone asks for a price and opens a checkout', async () => {
  await page.locator('h1').click()
  await tabTo(t.places.in)
  await page.keyboard.press('Enter')
  await page.locator(':focus', { hasText: t.sections['top-up'] }).waitFor()
  await tabTo(t.amountIn('IDR'))
  await page.keyboard.type('5000')
  await page.keyboard.press('Enter')
  await see(/^From Rp\s10,000 to Rp/)
  await page.keyboard.type('00')
  expect(await page.locator(':focus').inputValue()).toBe('500,000')
  await tabTo(t.methods.bank)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await shown(page.getByLabel(t.methods.qr)).isChecked()).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: t.offer }).waitFor()
  expect(await page.locator(':focus').textContent()).toBe(t.offer)
  await see(/Rp\s16,250 per dollar/)
  await tabTo(t.openCheckout)
  expect(await page.locator(':focus').evaluate((one) => getComputedStyle(one).outlineStyle)).toBe('solid')
  await page.keyboard.press('Enter')
  await see(t.accepted)
  await payThere()
  await see(/^about Rp\s499,999 \(30\.76\sAUSD\)$/)
})

withBrowser('an offer ends with its quote on a device whose clock is two hours fast', async () => {
  const shortly = async (route: Route) => {
    const response = await route.fetch()
    const config = { ...(await response.json()), quote: { seconds: 10 } }
    await route.fulfill({ response, json: config })
  }
  const [terms, orders] = ['**/config', '**/topups']
  await page.route(terms, shortly)
  await page.addInitScript(() => {
    const { now } = Date
    Date.now = () => now() + Number(sessionStorage.getItem('aheadMs'))
  })
  await page.evaluate(() => sessionStorage.setItem('aheadMs', '7200000'))
  await page.reload()
  await page.route(orders, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
    await route.fulfill({ status: 422, headers, json: { error: 'Top-ups are closed.' } })
  })
  await go('top-up')
  await type(t.amountIn('IDR'), '500,000')
  await press(t.getPrice)
  await press(t.openCheckout)
  await see('Top-ups are closed.')
  await see(t.offerEnded)
  await see('Top-ups are closed.')
  expect(await shown(page.getByRole('button', { name: t.openCheckout })).count()).toBe(0)
  await page.unroute(terms)
  await page.unroute(orders)
  await page.evaluate(() => sessionStorage.removeItem('aheadMs'))
  await go('account')
  await page.reload()
})

withBrowser('a card payment in ringgit is held, and the page explains it before and after', async () => {
  await shown(page.getByLabel(t.country)).selectOption('MY')
  await press(t.save)
  await see(t.saved)
  await go('top-up')
  await type(t.amountIn('MYR'), '50,00')
  await press(t.getPrice)
  await see(t.notAnAmount('50.00'))
  await type(t.amountIn('MYR'), '50.00')
  await shown(page.getByLabel(t.methods.card)).check()
  await press(t.getPrice)
  await see(t.hold('15 seconds'))
  await type(t.amountIn('MYR'), '60.00')
  // A price is withdrawn when the form that it was made of is changed.
  expect(await shown(page.getByRole('button', { name: t.openCheckout })).count()).toBe(0)
  await type(t.amountIn('MYR'), '50.00')
  await press(t.getPrice)
  await press(t.openCheckout)
  await payThere()
  // A busy machine may load the page after the hold, when the money has become collateral.
  await see(/^about RM\s50\.00 \(11\.87\sAUSD\), .+ can still be reversed|42\.64\sAUSD/)
})

/** Makes requests lose their responses while `isLost`, although they are carried out. */
async function loseAnswers(address: string, word = '') {
  const lost = { bodies: [] as string[], isLost: true }
  await page.route(address, async (route) => {
    const body = route.request().postData() ?? ''
    if (body === '' || !body.includes(word)) return route.continue()
    lost.bodies.push(body)
    const answer = await route.fetch()
    await (lost.isLost ? route.abort() : route.fulfill({ response: answer }))
  })
  return lost
}

withBrowser('a loan whose answer is lost is taken once, and shows its due date', async () => {
  const node = `${stack.info.chain.rpcUrl}/**`
  const lost = await loseAnswers(node, 'eth_sendRawTransaction')
  await go('borrow')
  await type(t.amountIn('MYR'), '1000')
  await press(t.continue)
  await see(/^At most about RM\s\d+\.\d\d \(\d+\.\d\d\sAUSD\)\.$/)
  await type(t.amountIn('MYR'), '12.63')
  await see(/^3\.00\sAUSD$/)
  await press(t.continue)
  await see(/^about RM\s12\.63 \(3\.00\sAUSD\)$/)
  await press(t.borrow)
  await waitUntil('the transaction', () => lost.bodies.length > 0)
  await page.reload()
  await see(t.borrowed)
  expect(new Set(lost.bodies.map((body) => JSON.parse(body).params[0])).size).toBe(1)
  await page.unroute(node)
  await go('account')
  await see(/^RM\s\d+\.\d+$/)
  await see(/^3\.00\sAUSD$/)
  await see(/^Repay by /)
})

withBrowser(
  'a debt past its due date is red where it is repaid, and the page says why nothing more is lent',
  async () => {
    await page.route('**/me', async (route) => {
      const response = await route.fetch()
      const me = await response.json()
      await route.fulfill({ response, json: { ...me, cycle: { ...me.cycle, dueAt: '1' } } })
    })
    await refresh()
    await go('repay')
    await shown(page.locator('.warning', { hasText: /^You owe about RM/ })).waitFor()
    await go('borrow')
    await see(t.contractErrors.TermPassed)
    await page.unroute('**/me')
    await refresh()
    await waitUntil('a debt in time', async () => {
      return (await shown(page.getByText(t.contractErrors.TermPassed)).count()) === 0
    })
    await go('account')
  },
)

/** Waits until the wallet of the page has allowed this on the chain. */
async function untilAllowed(allowed: { source: 'wallet' | 'collateral'; maxPerCycle: string } | null) {
  const { api } = personOf(stack.info, await keyOfPage())
  await api.waitUntil(({ autoRepay }) => {
    if (!allowed || !autoRepay) return autoRepay === allowed
    return autoRepay.source === allowed.source && autoRepay.maxPerCycle === allowed.maxPerCycle
  })
}
const keyOfPage = async () => (await page.evaluate(() => localStorage.getItem('wallet'))) as `0x${string}`
const mostLabel = t.autoRepayMostIn('ringgit')
/** Fills in the form of the automatic repayment, and asks for the review. */
async function allowAutoRepay(source: keyof typeof t.autoRepaySources, most: string) {
  await shown(page.getByLabel(t.autoRepaySources[source])).check()
  await type(mostLabel, most)
  await shown(page.locator('form', { has: page.getByLabel(mostLabel) }))
    .getByRole('button', { name: t.continue })
    .click()
  await page.getByRole('heading', { name: t.offer }).waitFor()
}

withBrowser('an automatic repayment is off until it is allowed from the wallet, after a review', async () => {
  await go('repay')
  expect(await shown(page.getByLabel(mostLabel)).inputValue()).toBe('12.63')
  await allowAutoRepay('wallet', '10.50')
  await see(/^about RM\s10\.50 \(2\.494061\sAUSD\)$/)
  await see(/^from \d+ \w+ \d{4}, \d\d:\d\d MYT, tried again until it succeeds$/)
  await see(t.autoRepayNotes.wallet)
  await see(/^Your debt is more than you allow here\. Repay the rest yourself: about RM\s2\.14 \(0\.51\sAUSD\)\.$/)
  await untilAllowed(null)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    expect([await widthOf(page), await violationsOf(page)]).toEqual([360, []])
  }
})

withBrowser(
  'an automatic repayment that a reload interrupts after its first transaction is allowed by the second',
  async () => {
    const node = `${stack.info.chain.rpcUrl}/**`
    let isStopped = false
    await page.route(node, (route) => {
      if (!route.request().postData()?.includes('eth_sendRawTransaction')) return route.continue()
      isStopped = true
      return route.abort()
    })
    await allowAutoRepay('wallet', '12.63')
    expect(await shown(page.getByRole('alert')).count()).toBe(0)
    await press(t.autoRepayConfirm)
    // A transaction that is stored but not sent yet would pass once the route is gone.
    await waitUntil('the first transaction', () => isStopped)
    await page.waitForFunction(() => Object.keys(localStorage).some((key) => /^order.*approve$/.test(key)))
    await page.unroute(node)
    await page.reload()
    await see(t.autoRepayHalf)
    await untilAllowed(null)
    await allowAutoRepay('wallet', '12.63')
    await press(t.autoRepayConfirm)
    await see(t.autoRepayDone)
    await untilAllowed({ source: 'wallet', maxPerCycle: '3000000' })
    expect(await allowanceOf(stack, privateKeyToAddress(await keyOfPage()))).toBe(maxUint256)
    const line = /^This loan will be repaid automatically from your wallet, from .+ MYT on, at most about RM/
    await see(line)
    await go('account')
    await see(line)
  },
)

withBrowser(
  'an automatic repayment whose approval another app has replaced is shown as such, and renewed',
  async () => {
    const { approve } = personOf(stack.info, await keyOfPage())
    await approve(1_000_000n)
    await see(/^The credit line may no longer take about RM\s\d+\.\d+ \(3\.00\sAUSD\) from your wallet\./)
    await go('repay')
    await press(t.autoRepayChange)
    await allowAutoRepay('wallet', '12.63')
    await press(t.autoRepayConfirm)
    await see(t.autoRepayDone)
    expect(await allowanceOf(stack, privateKeyToAddress(await keyOfPage()))).toBe(maxUint256)
    await waitUntil('no warning', async () => (await page.getByText(/may no longer take/).count()) === 0)
    await go('account')
  },
)

withBrowser('an automatic repayment is changed to the collateral, and ended', async () => {
  await shown(page.getByRole('link', { name: t.autoRepayChange })).click()
  await press(t.autoRepayChange)
  await allowAutoRepay('collateral', '16.84')
  await press(t.autoRepayKeep)
  expect(await page.locator(':focus').textContent()).toBe(t.autoRepayChange)
  expect(await shown(page.getByRole('button', { name: t.autoRepayConfirm })).count()).toBe(0)
  await untilAllowed({ source: 'wallet', maxPerCycle: '3000000' })
  await press(t.autoRepayChange)
  expect(await shown(page.getByLabel(t.autoRepaySources.wallet)).isChecked()).toBe(true)
  expect(await shown(page.getByLabel(mostLabel)).inputValue()).toBe('12.63')
  await allowAutoRepay('collateral', '16.84')
  await see(t.autoRepayNotes.collateral)
  await press(t.autoRepayConfirm)
  await untilAllowed({ source: 'collateral', maxPerCycle: '4000000' })
  await see(
    /^This loan will be repaid automatically from your collateral, from .+ on, at most about .+\(4\.00\sAUSD\)\.$/,
  )
  await press(t.autoRepayEnd)
  await see(t.autoRepayEnded)
  await untilAllowed(null)
  await waitUntil('the form', () => shown(page.getByLabel(mostLabel)).isVisible())
  expect(await shown(page.getByRole('button', { name: t.autoRepayEnd })).count()).toBe(0)
  await go('account')
  expect(await shown(page.getByText(/repaid automatically/)).count()).toBe(0)
})

withBrowser('an order without an answer is continued after a reload, as the same order', async () => {
  const lost = await loseAnswers('**/settlements')
  await go('repay')
  await press(t.getPrice)
  await press(t.openCheckout)
  await waitUntil('two attempts', () => lost.bodies.length >= 2)
  lost.isLost = false
  await page.reload()
  await shown(page.getByRole('link', { name: t.goToPayment })).waitFor()
  // The list of orders may show the link before the response to the order has arrived.
  await page.waitForFunction(() => !Object.keys(localStorage).some((key) => /^order/.test(key)))
  expect([...new Set(lost.bodies)]).toHaveLength(1)
  expect(await page.getByRole('link', { name: t.goToPayment }).count()).toBe(1)
  await page.unroute('**/settlements')
})

withBrowser('a cancelled settlement can be opened again and paid', async () => {
  await press(t.cancel)
  await see(/cancel/i)
  await waitUntil('no open checkout', async () => {
    return (await page.getByRole('link', { name: t.goToPayment }).count()) === 0
  })
  await press(t.getPrice)
  await press(t.openCheckout)
  await payThere()
  await see(t.nothingDue)
  await go('repay')
  await see(t.contractErrors.NothingOwed)
  expect(await shown(page.getByRole('button', { name: t.getPrice })).count()).toBe(0)
})

withBrowser('a cash-out is signed, checked and followed to the bank, and a transfer to its wallet', async () => {
  await go('cash-out')
  const bank = shown(page.getByRole('combobox', { name: t.bank, exact: true }))
  await bank.fill('bank m')
  await press(t.checkAccount)
  await see(t.chooseBank) // Several banks have this text in their names.
  await bank.fill('bca')
  await bank.press('Tab')
  expect(await bank.inputValue()).toBe('Bank Central Asia')
  await type(t.accountNumber, '1234567890')
  await type(t.accountHolder, 'Budi Santoso')
  await press(t.checkAccount)
  await see(/does not have this account/)
  await type(t.bankGetsIn('rupiah'), '16,250')
  await see(/^1\.00\sAUSD$/)
  await press(t.getPrice)
  await shown(page.getByRole('alert').filter({ hasText: /does not have this account/ })).waitFor()
  await type(t.accountHolder, 'Sari Dewi')
  // A verdict disappears when the account that it is about is changed.
  expect(await page.getByText(/does not have this account/).count()).toBe(0)
  await press(t.checkAccount)
  await see(/^The bank has this account/)
  await type(t.bankGetsIn('rupiah'), '100,000')
  await press(t.getPrice)
  await see(/^From Rp\s10,000 to about Rp\s48,750 \(3\.00\sAUSD\)\.$/)
  await press(t.most)
  await press(t.getPrice)
  await see(/^about RM\s12\.63 \(3\.00\sAUSD\)$/)
  await type(t.bankGetsIn('rupiah'), '16,250')
  await press(t.getPrice)
  await see(/^about RM\s4\.21 \(1\.00\sAUSD\)$/)
  await see(/^Rp\s16,250$/)
  await press(t.signCashOut)
  await see(t.accepted)
  await see(/bank transfer is complete/i)
  await go('send')
  await type(t.toWallet, `0x${'1'.repeat(40)}`)
  await type(t.amountIn('MYR'), '2.10')
  await press(t.continue)
  await see(/^about RM\s2\.10 \(0\.498813\sAUSD\)$/)
  await see('0x1111 1111 1111 1111 1111 1111 1111 1111 1111 1111')
  await press(t.signSend)
  await see(/transfer is complete/i)
})

/** Moves the user to another country from another device, and waits until the page has read it. */
async function moveTo(country: 'ID' | 'MY', label: string) {
  await personOf(stack.info, await keyOfPage()).api.setCountry(country)
  await waitUntil('the other currency', async () => {
    await refresh()
    return shown(page.getByLabel(label)).isVisible()
  })
}

withBrowser('the maximum of a transfer is the whole balance, and another rate ends its review', async () => {
  const amount = (currency: 'IDR' | 'MYR' | 'AUSD') => shown(page.getByLabel(t.amountIn(currency)))
  await waitUntil('the balance after the transfer', async () => {
    await refresh()
    return shown(page.getByText(/^At most about RM\s6\.31 \(1\.50\sAUSD\)\.$/)).isVisible()
  })
  await press(t.most)
  expect(await amount('MYR').inputValue()).toBe('6.31')
  await press(t.continue)
  await see(/^about RM\s6\.31 \(1\.501187\sAUSD\)$/)
  await moveTo('ID', t.amountIn('IDR'))
  await see(t.rateChanged)
  expect(await shown(page.getByRole('button', { name: t.signSend })).count()).toBe(0)
  expect(await amount('IDR').inputValue()).toBe('24,394')
  await press(t.continue)
  await see(/^about Rp\s24,394 \(1\.501187\sAUSD\)$/)
  await amount('IDR').fill('8,125')
  await page.route('**/quote', (route) => route.abort())
  await moveTo('MY', t.amountIn('AUSD'))
  expect(await amount('AUSD').inputValue()).toBe('0.50')
  await press(t.continue)
  await see(/^0\.50\sAUSD$/)
  await page.unroute('**/quote')
  await waitUntil('the rate', async () => {
    await refresh()
    return amount('MYR').isVisible()
  })
  await see(t.rateChanged)
  expect(await amount('MYR').inputValue()).toBe('2.10')
})

withBrowser('an amount to pay in is not taken over into another currency', async () => {
  await go('top-up')
  await type(t.amountIn('MYR'), '50.00')
  await press(t.getPrice)
  await see(/^RM\s50\.00 \(11\.87\sAUSD\)$/)
  await moveTo('ID', t.amountIn('IDR'))
  expect(await shown(page.getByLabel(t.amountIn('IDR'))).inputValue()).toBe('')
  expect(await shown(page.getByRole('button', { name: t.openCheckout })).count()).toBe(0)
  await moveTo('MY', t.amountIn('MYR'))
})

withBrowser('each item opens its detail, and a receipt to print', async () => {
  await go('activity')
  const items = page.locator('details.card').and(page.locator(':visible'))
  await waitUntil('every item', async () => (await items.count()) === 6)
  await page.evaluate((ms) => sessionStorage.setItem('aheadMs', ms), String(8 * 86_400_000))
  await page.reload()
  await waitUntil('every item', async () => (await items.count()) === 6)
  await shown(page.getByLabel(t.period)).selectOption('7')
  // The page changes the list at once. A device whose date is wrong shows the last week of the service.
  expect(await items.count()).toBe(6)
  await page.evaluate(() => sessionStorage.removeItem('aheadMs'))
  await page.reload()
  await waitUntil('every item', async () => (await items.count()) === 6)
  await see(/^about −RM\s2\.10$/)
  expect(await items.locator('summary svg.icon[aria-hidden=true]').count()).toBe(6)
  for (const [standing, count] of [['done', 5] as const, ['ended', 1] as const, ['inProgress', 0] as const]) {
    await shown(page.getByLabel(t.status)).selectOption(standing)
    expect([standing, await items.count()]).toEqual([standing, count])
  }
  await see(t.noneOfThese)
  await shown(page.getByLabel(t.status)).selectOption('')
  await items.first().locator('summary').click()
  const [receipt] = await Promise.all([page.waitForEvent('popup'), press(t.receipt)])
  await receipt.getByText('0.498813 AUSD').waitFor()
  const size = await receipt.locator('h1').evaluate((one) => getComputedStyle(one).fontSize)
  expect(size).toBe('24px') // The size shows that the page's own styles apply.
  await receipt.close()
})

withBrowser('a filter that matches nothing loads ten older pages, and the rest when the user asks for it', async () => {
  const at = (page: number) => new Date(Date.now() - page * 86_400_000).toISOString()
  const sent = { kind: 'send', status: 'sent', nextAction: null, sentence: 'Sent.', ausd: '1' }
  const repaid = { ...sent, kind: 'autorepay', status: 'repaid', ausd: '3000000', source: 'collateral' }
  const asked: string[] = []
  await page.route('**/me/activity?*', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const cursor = new URL(route.request().url()).searchParams.get('cursor')
    if (cursor === null) {
      const response = await route.fetch()
      if (response.status() !== 200) return route.fulfill({ response })
      return route.fulfill({ response, json: { ...(await response.json()), nextCursor: '1' } })
    }
    asked.push(cursor)
    const older = Number(cursor)
    const item = { ...(older === 12 ? repaid : sent), id: `older${older}`, createdAt: at(older), updatedAt: at(older) }
    const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
    await route.fulfill({ headers, json: { inFlight: [], items: [item], nextCursor: String(older + 1) } })
  })
  await page.reload()
  const items = page.locator('details.card').and(page.locator(':visible'))
  await waitUntil('every item', async () => (await items.count()) === 6)
  const more = shown(page.getByRole('button', { name: t.showOlder }))
  const ends = () =>
    page.waitForFunction((name) => {
      const buttons = [...document.querySelectorAll('button')].filter((one) => one.textContent === name)
      return buttons.every((one) => !one.hasAttribute('aria-disabled'))
    }, t.showOlder)
  await shown(page.getByLabel(t.kind)).selectOption('autorepay')
  await ends()
  expect([await items.count(), asked]).toEqual([0, Array.from({ length: 10 }, (_, page) => String(page + 1))])
  await see(t.noneOfThese)
  await more.click()
  await see(kindTexts.autorepay.en)
  await ends()
  expect(asked.slice(10)).toEqual(['11', '12'])
  await shown(items.locator('small', { hasText: /3\.00\sAUSD/ })).waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()
  await waitUntil('every item', async () => (await items.count()) === 6)
})

withBrowser('the statement is shown, downloaded and printed without the rest of the page', async () => {
  await go('statement')
  await press(t.showStatement)
  await see(t.closing)
  // A day begins in the user's country, wherever the device is.
  await see(new RegExp(`^${t.opening} \\(1 [A-Z][a-z]+ 20\\d\\d, 00:00 MYT\\)$`))
  for (const kind of ['drawn', 'cashout', 'cashout_paid'] as const) await see(t.statementKinds[kind])
  await see(/^Amounts with “about” are converted at the rate of .+: RM\s4\.21 per dollar\.$/)
  await see(/^about RM\s12\.63/)
  const [file] = await Promise.all([page.waitForEvent('download'), press(t.downloadCsv)])
  expect(readFileSync(await file.path(), 'utf8')).toStartWith('at,kind,id,ausd')
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('navigation').isVisible()).toBe(false)
  expect(await page.getByRole('button', { name: t.print }).isVisible()).toBe(false)
  expect(await page.getByRole('table').isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })
})

withBrowser('the statement ends today by the chain, whose clock may be ahead', async () => {
  const node = `${stack.info.chain.rpcUrl}/**`
  const day = 86_400_000
  const today = new Date(Date.now() + 40 * day).toISOString().slice(0, 10)
  const blockOf = (seconds: number) => ({ timestamp: `0x${seconds.toString(16)}` })
  await page.route(node, async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    if (answer.result?.timestamp) Object.assign(answer.result, blockOf(Math.floor(Date.parse(today) / 1_000)))
    await route.fulfill({ response, json: answer })
  })
  await page.reload()
  await press(t.showStatement)
  await see(t.closing)
  expect(await shown(page.getByLabel(t.until)).inputValue()).toBe(today)
  await page.unroute(node)
})

withBrowser('the public record shows the closed cycle', async () => {
  await go('record')
  await press(t.showRecord)
  await see(t.cycle(1))
})

withBrowser('the drawer shows each request without the session, to copy as curl', async () => {
  await page.getByText(t.requests).click()
  const orders = page.locator('.requests details', { hasText: 'POST /cashouts' })
  await orders.first().locator('summary').click()
  const asked = orders.first().locator('pre').first()
  const text = await waitUntil('the request', async () => (await asked.textContent()) || undefined)
  expect(text).toContain('authorization: $SESSION')
  expect(text).toContain('accept-language: en')
  expect(text).toContain('"quoteId"')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await press(t.copyCurl)
  await see(t.copied)
  expect(await page.evaluate(() => navigator.clipboard.readText())).toStartWith('curl -s -X POST ')
  // The page has no clipboard, as over plain http.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { configurable: true }))
  await press(t.copyAnswer)
  await waitUntil('the second copy', async () => (await page.getByText(t.copied).count()) > 0)
  await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'))
  expect(await page.evaluate(() => navigator.clipboard.readText())).toStartWith('{')
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }))
  expect(stored).not.toMatch(/Service 0x/)
  await page.getByText(t.requests).click()
})

withBrowser('in each language and theme, no section is cut off or has an accessibility fault', async () => {
  for (const [language, texts] of Object.entries({ en: english, id: indonesian, ms: malay })) {
    await page.emulateMedia({ colorScheme: language === 'ms' ? 'dark' : 'light' })
    await page.locator('header select').selectOption(language)
    await page.getByText(texts.creditLine).first().waitFor({ state: 'attached' })
    expect(await page.locator('html').getAttribute('lang')).toBe(language)
    for (const slug of slugs) {
      await page.evaluate((to) => {
        location.hash = to
      }, slug)
      await page.getByRole('heading', { name: texts.sections[slug], exact: true }).waitFor()
      const nav = await page
        .locator('nav')
        .first()
        .evaluate((one) => ({
          isCut: one.scrollWidth > one.clientWidth,
          lines: [...one.querySelectorAll('a')].map((link) => {
            const words = document.createRange()
            words.selectNodeContents(link)
            return words.getClientRects().length
          }),
        }))
      expect([language, nav]).toEqual([language, { isCut: false, lines: [1, 1, 1, 1, 1] }])
      if (slug === 'activity' && language !== 'en')
        expect(await page.locator('main').textContent()).not.toContain('The transfer is complete.')
      // In the dark only the contrast differs.
      const rules = language === 'ms' ? '{ runOnly: ["color-contrast"] }' : '{}'
      const violations = language === 'id' ? [] : await violationsOf(page, rules)
      expect([language, slug, await widthOf(page), violations]).toEqual([language, slug, 360, []])
    }
  }
})

withBrowser('the page threw no error and kept its content security policy', () => {
  // Browsers log each lost response, the refusals, what a service answers on a machine that is too busy, and the session
  // that a device with a wrong date signs first.
  const others = browser.complaints.filter((words) => !/ERR_FAILED|status of (401|422|503)/.test(words))
  expect(others).toEqual([])
})
