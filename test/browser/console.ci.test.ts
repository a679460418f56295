import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { query } from '#test/support/database'
import { quickChecks } from '#test/support/settings'
import { ownStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'
import { browserPath, noBrowser, type Opened, openBrowser } from './browser'
import { faultsOf } from './page-faults'

// The test opens the address that a stack prints in a real browser.

const found = browserPath()
if (!found) console.warn(noBrowser)
const withBrowser = test.if(found !== undefined)

let stack: Stack
let browser: Opened
let page: Page
beforeAll(async () => {
  if (!found) return
  // The books are compared only once, so rows planted here stay.
  const env = { ...quickChecks, operations: { BOOKS_EVERY_MS: '3600000' } }
  stack = await ownStack({ controls: true, operations: true, env })
  browser = await openBrowser(found)
  page = await browser.open(stack.info.ops.console)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await stack?.[Symbol.asyncDispose]()
})

/** Time of a payer in ms, long enough to appear in a timeline. */
const payerMs = 500

const textOf = async (place: Locator) => (await place.textContent()) ?? ''
const view = (name: string) => page.getByRole('link', { name, exact: true }).click()
const status = () => textOf(page.locator('#status'))
const live = () => waitUntil('the page being live', async () => (await status()).startsWith('Live'))

async function press(action: string, choose: Record<string, string> = {}): Promise<string> {
  await view('Motion')
  await view('Sandbox') // The view is opened again because the choices have changed.
  const form = page.getByRole('form', { name: action, exact: true })
  for (const [label, value] of Object.entries(choose)) await form.getByLabel(label).selectOption({ value })
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  await form.getByRole('button', { name: 'Confirm' }).click()
  const outcome = form.locator('.outcome')
  return waitUntil('the outcome', async () => (await textOf(outcome)).trim())
}

withBrowser('the token leaves the address at once and opens the console', async () => {
  await live()
  expect(page.url()).toBe(`${stack.info.ops.gateway}/`)
  await page.getByText('No money is in flight.').waitFor()
  await page.getByText('No payment or cash-out yet.').waitFor()
})

withBrowser('messages appear in Motion, from the checkout to the chain', async () => {
  expect(await press('Decide an identity check', { Verdict: 'approved' })).toStartWith('Verdict sent: approved.')
  await view('Motion')
  await page.getByText('native coin drip final on the chain').waitFor()

  expect(await press('Top up')).toStartWith('Checkout open for 30.769230 AUSD')
  await pause(payerMs)
  expect(await press('Pay a checkout', { Channel: 'QRIS' })).toStartWith('Paid.')
  await view('Motion')
  await page.getByText('top-up completed').waitFor()
  const row = page.getByRole('row', { name: /top-up paid/ })
  expect(await textOf(row)).toContain('Rp 500,000')
})

withBrowser('the first view shows the latest items to a page that opens later', async () => {
  const later = await browser.open(stack.info.ops.console)
  const latest = later.getByRole('table', { name: /^Payments and cash-outs that changed last/ })
  const row = latest.getByRole('row', { name: /topup/ })
  await waitUntil('the credited top-up', async () => (await textOf(row)).includes('credited'))
  expect(await textOf(row)).toContain('Rp 500,000')
  expect(await later.getByText('Reading the latest items.').count()).toBe(0)
  await later.context().close()
})

withBrowser('an item shows its timeline through every service, with its waits', async () => {
  await page.getByRole('link', { name: 'top-up completed' }).click()
  const card = page.locator('section.card').first()
  await waitUntil('the credit', async () => (await textOf(card)).includes('credited'))
  const history = textOf(page.locator('table.history'))
  for (const part of ['pricing', 'payments', 'chain-relayer', 'chain', 'provider', 'bus'])
    expect(await history).toContain(part)
  expect(await history).toMatch(/waited [\d.]+ m?s for the payer/)
  expect(await textOf(page.locator('main'))).not.toContain('Unavailable')

  const id = await textOf(page.locator('h2'))
  await page.keyboard.press('/')
  await page.keyboard.type(stack.info.accounts[0]!.address)
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: /^wallet / }).waitFor()
  await page.getByRole('link', { name: id }).first().click()
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  expect(page.url()).toEndWith('?form=json')
  expect(JSON.parse(await textOf(page.locator('pre')))).toMatchObject({ id, unseen: [] })
})

/** Returns elements that are cut off at the page's right edge or need scrolling. */
const cutOff = () =>
  page.evaluate(() => {
    const isWide = (one: Element) => one.scrollWidth > one.clientWidth + 1
    const wide = [document.documentElement, ...document.querySelectorAll('.scroll, .card')]
    return wide.filter(isWide).map((one) => `${one.tagName}.${one.className}`)
  })

withBrowser('on a narrow page nothing is cut off: ids move below the text', async () => {
  const id = decodeURIComponent(/#\/item\/([^?]+)/.exec(page.url())![1]!)
  try {
    for (const width of [800, 1000, 1100, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of [`item/${id}`, 'motion', 'search?when=affected', 'state']) {
        await page.evaluate((to) => {
          location.hash = `#/${to}`
        }, path)
        const drawn = path.startsWith('item') ? 'table.history' : path.startsWith('search') ? 'table.found' : 'h2'
        await page.locator(drawn).waitFor()
        expect([width, path, await cutOff()]).toEqual([width, path, []])
      }
    }
    await page.setViewportSize({ width: 800, height: 800 })
    await view('Motion')
    await page.locator('td[data-name="wallet"]').first().waitFor()
    const { x, width } = (await page.locator('td[data-name="wallet"]').first().boundingBox())!
    expect(x + width).toBeLessThanOrEqual(800)
  } finally {
    await page.setViewportSize({ width: 1280, height: 800 })
  }
})

withBrowser('the footer counts the existing views', async () => {
  const shown = await page.locator('#views a').count()
  expect(await textOf(page.locator('#last-view'))).toBe(String(shown))
  await page.locator('h1').click()
  await page.keyboard.press(String(shown))
  expect(page.url()).toEndWith('#/sandbox')
})

withBrowser('Search finds an item by amount and time with the keyboard alone, and copies its id', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.locator('h1').click()
  await page.keyboard.press('2')
  await page.getByLabel('Amount', { exact: true }).focus()
  await page.keyboard.type('500000')
  await page.keyboard.press('Tab')
  await page.keyboard.type('IDR')
  await page.getByLabel('State', { exact: true }).focus()
  await page.keyboard.type('credited')
  await page.keyboard.press('Enter')
  await page.getByText('1 found, of 1 wallet').waitFor()
  expect(page.url()).toEndWith('#/search?amount=500000&currency=IDR&state=credited')
  const row = page.getByRole('row', { name: /credited/ })
  expect(await textOf(row)).toContain('QRIS')
  await row.getByRole('button', { name: /^Copy pay_/ }).click()
  await row.getByText('Copied').waitFor()
  const id = await page.evaluate(() => navigator.clipboard.readText())
  await page.locator('h1').click()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await waitUntil('the item', () => page.url().includes(`#/item/${id}`))

  const search = (typed: string) =>
    page.evaluate((to) => {
      location.hash = `#/search?${to}`
    }, typed)
  await search('amount=500000')
  await page.getByText('amount and currency belong together').waitFor()
  await search('state=credited&to=2000-01-01')
  await page.getByText('No item matches.').waitFor()
})

withBrowser('an unknown id is reported as not found', async () => {
  await page.getByLabel('Find', { exact: true }).fill('pay_that_nobody_knows')
  await page.getByLabel('Find', { exact: true }).press('Enter')
  await page.getByText('Not found: pay_that_nobody_knows.').waitFor()
  const long = '7'.repeat(240)
  await page.getByLabel('Find', { exact: true }).fill(long)
  await page.getByLabel('Find', { exact: true }).press('Enter')
  await page.getByText(`Not found: ${long}.`).waitFor()
  expect(await cutOff()).toEqual([])
})

withBrowser('Attention lists items for manual work, and groups dead letters', async () => {
  await view('Attention')
  await page.getByText('Nothing needs attention.').waitFor()
  await page.getByText('No dead letters.').waitFor()
  await query(stack, `update payments.payments set state = 'review', reason = 'amount_differs'`)
  await query(
    stack,
    `insert into payments.dead_letter (consumer, message_id, subject, payload, reason)
     select 'payments', 'msg_' || n, 'relay.credit.settled', '{}', 'no payment ' || n || ' here'
     from generate_series(1, 3) n`,
  )
  await view('Motion')
  await view('Attention')
  await page.getByRole('link', { name: 'topup, amount_differs' }).waitFor()
  await page.getByRole('heading', { name: '3 × relay.credit.settled' }).waitFor()
  expect(await page.locator('button:disabled').count()).toBe(0)
  await page.getByText(/^bun run ops dead-letters show [0-9a-f]{8}$/).waitFor()
  await query(stack, `update payments.payments set state = 'credited', reason = null`)
  await query(stack, 'delete from payments.dead_letter')
})

withBrowser('the list can be browsed and filtered, and the address has the filter', async () => {
  await view('Motion')
  await page.locator('h1').click()
  await page.keyboard.press('p') // This key pauses the view, which keeps new rows out.
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const rows = page.locator('[data-row]')
  const focused = page.locator('[data-row]:focus')
  expect(await textOf(focused)).toBe(await textOf(rows.nth(1)))

  await page.getByRole('button', { name: 'Webhooks' }).click()
  expect(page.url()).toEndWith('#/motion?flow=webhook')
  const flows = await page.locator('tbody .flow').allTextContents()
  expect([...new Set(flows)]).toEqual(['webhook'])
  await page.getByLabel('containing', { exact: true }).fill('nothing like that')
  await page.keyboard.press('Enter')
  await page.getByText(/^None of the \d+ messages received match these filters/).waitFor()
  await view('State')
  expect(page.url()).toEndWith('#/state')
  await page.keyboard.press('p')
  await live()
})

withBrowser('State shows queues, rates and lanes', async () => {
  // The first view may be from before the deletion of the rows.
  for (const [name, words] of [
    ['Queues', 'COMMANDS'],
    ['Rates', '16250'],
    ['Lanes and chain', 'nonce'],
    ['Alerts', 'No alerts'],
  ] as const) {
    const card = page.getByRole('region', { name, exact: true })
    await waitUntil(`${words} in ${name}`, async () => (await textOf(card)).includes(words))
  }
})

withBrowser('State shows alerts, and names the parts it could not read', async () => {
  const card = page.getByRole('region', { name: 'Alerts', exact: true })
  const says = (words: string) => waitUntil(words, async () => (await textOf(card)).includes(words))
  await view('State')

  await query(
    stack,
    `insert into payouts.pauses (what, since, revision, set_by, reason)
     values ('payouts', now(), 1, 'sari', 'ticket 7')`,
  )
  await query(
    stack,
    `insert into books.breaks (rule, item, asset, amount, about, found_at) values
     ('payment_chain', 'pay_x', 'AUSD', 1, 'one more', now() - interval '1 hour'),
     ('payment_chain', 'pay_y', 'AUSD', 1, 'one more', now())`,
  )
  await query(
    stack,
    `insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, wallet, ausd_micro) values
     ('0x${'a'.repeat(64)}', 1, 1, now() - interval '1 hour', 'in', '0x${'b'.repeat(40)}', 2500000),
     ('0x${'c'.repeat(64)}', 1, 1, now(), 'in', '0x${'b'.repeat(40)}', 9000000)`,
  )
  const silent = stack.process('pricing')
  await silent.stop('SIGTERM')
  try {
    await says(', by sari: ticket 7')
    await says('1 open break in the books')
    await says('unexplained AUSD in the treasury: 2.500000 AUSD')
    await says('pricing does not respond')
    expect(await textOf(card)).not.toContain('No alerts')
  } finally {
    silent.start()
    await query(stack, 'update payouts.pauses set since = null')
    await query(stack, 'delete from books.breaks')
    await query(stack, 'delete from books.chain_moves')
  }
  await says('No alerts.')
})

withBrowser('a paused page sends no requests', async () => {
  await page.keyboard.press('p')
  expect(await status()).toStartWith('Paused')
  const asked: string[] = []
  // Browsers request the icon themselves, so it is left out.
  page.on('request', (request) => request.url().endsWith('.svg') || asked.push(request.url()))
  await view('Motion')
  await view('Sandbox')
  await page.getByText('Paused: no requests are sent.').waitFor()
  await outsideOf(stack.info).identity(stack.info.accounts[1]!.address, 'approved')
  await waitUntil('the verdict', async () => {
    const { identities } = await outsideOf(stack.info).book()
    return identities?.length === 2
  })
  expect(asked).toEqual([])
  await page.keyboard.press('p')
  await live()
})

withBrowser('a killed service is restarted, and the page reports it', async () => {
  const before = stack.process('pricing').pid()
  expect(await press('Kill a service', { Service: 'pricing' })).toContain('pricing was killed')
  await waitUntil('another process', () => ![before, -1].includes(stack.process('pricing').pid()))
})

withBrowser('the page outlives the gateway that served it', async () => {
  const before = stack.process('gateway').pid()
  await press('Kill a service', { Service: 'gateway' })
  await waitUntil('another process', () => ![before, -1].includes(stack.process('gateway').pid()))
  await waitUntil('its answer', async () => (await fetch(`${stack.info.ops.gateway}/health`)).ok)
  await live()
})

withBrowser('the page reports that operations is down, and recovers with it', async () => {
  const process = stack.process('operations')
  await process.stop('SIGKILL')
  try {
    await waitUntil('the page saying so', async () =>
      (await status()).includes('The operations process does not respond.'),
    )
    await view('Attention')
    await page.getByText('Could not load: The operations process does not respond.').waitFor()
  } finally {
    process.start()
  }
  await live()
})

withBrowser('a page without a token shows no data and the reason', async () => {
  const stranger = await browser.open(`${stack.info.ops.gateway}/#/state`)
  await stranger.getByRole('heading', { name: 'Console locked' }).waitFor()
  await stranger.getByLabel('Token', { exact: true }).fill('not-the-token')
  await stranger.getByRole('button', { name: 'Open' }).click()
  await stranger.getByText('The console token is missing or wrong.').waitFor()
  expect(await stranger.getByRole('link', { name: 'Sandbox' }).count()).toBe(0)
  await stranger.context().close()
})

describe('the page in both themes', () => {
  for (const dark of [false, true])
    withBrowser(`in ${dark ? 'the dark, on a phone' : 'the light'}: labels, names, contrast and width`, async () => {
      const shown = await browser.open(stack.info.ops.console, { dark, phone: dark })
      await shown.evaluate(readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8'))
      for (const path of ['motion', 'state', 'attention', 'sandbox']) {
        await shown.evaluate((to) => {
          location.hash = `#/${to}`
        }, path)
        await shown.locator('h2').waitFor()
        await shown
          .locator(path === 'sandbox' ? 'form.card' : 'h2')
          .first()
          .waitFor()
        expect([path, await faultsOf(shown)]).toEqual([path, []])
        expect([path, await shown.evaluate('axe.run().then((found) => found.violations)')]).toEqual([path, []])
        expect(await shown.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
      }
      await shown.context().close()
    })
})

withBrowser('no page threw an error or violated its content security policy', () => {
  // The browser logs failed responses: that to the stranger, and those while the gateway was down.
  const expected = /401|ERR_(CONNECTION|INCOMPLETE|EMPTY)|50[23]/
  const others = browser.complaints.filter((words) => !expected.test(words))
  expect(others).toEqual([])
})
