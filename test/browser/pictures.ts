import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { play } from '#infra/demo/play'
import { repositoryDir } from '#infra/local/folders'
import { runningStack } from '#infra/local/stack-file'
import { browserPath, noBrowser, openBrowser } from './browser'

/** This script, `bun test/browser/pictures.ts`, takes pictures of both pages on the running stack during a demo. */
const folder = join(repositoryDir, 'services/gateway/operators/pictures')
const path = browserPath()
if (!path) throw new Error(noBrowser)
const stack = runningStack()

await using browser = await openBrowser(path)
const light = await browser.open(stack.ops.console)
const dark = await browser.open(stack.ops.console, { dark: true })
const key = generatePrivateKey()
await play(stack, key)

await light.setViewportSize({ width: 1100, height: 640 })
await light.getByRole('link', { name: 'Motion', exact: true }).click()
await light.screenshot({ path: join(folder, 'motion.png') })

await light.setViewportSize({ width: 1100, height: 900 })
await light.getByRole('link', { name: 'State', exact: true }).click()
await light.getByRole('heading', { name: 'Queues' }).waitFor()
await light.screenshot({ path: join(folder, 'state.png') })

await dark.setViewportSize({ width: 1100, height: 760 })
await dark.getByRole('link', { name: 'cash-out paid' }).first().click()
await dark.getByRole('button', { name: 'Compact', exact: true }).click()
await dark.locator('table.history').waitFor()
await dark.screenshot({ path: join(folder, 'item.png') })
console.log(`wrote motion.png, state.png and item.png into ${folder}`)

const ofApp = join(repositoryDir, 'infra/reference-app/pictures')
const app = await browser.open(`${stack.sandbox}/app`, { phone: true })
await app.evaluate((one) => localStorage.setItem('wallet', one), key)
await app.reload()
for (const [language, slug] of [
  ['en', 'account'],
  ['id', 'top-up'],
  ['ms', 'activity'],
] as const) {
  await app.locator('header select').selectOption(language)
  await app.locator(`nav a[href="#${slug}"]`).first().click()
  if (slug === 'top-up') {
    await app.locator('main input:visible').first().fill('500.000')
    await app.locator('main button.main:visible').first().click()
    await app.locator('.offer').waitFor()
    await app.locator('fieldset:visible').scrollIntoViewIfNeeded()
    await app.locator('.offer').evaluate((offer) => offer.scrollIntoView({ block: 'end' }))
  }
  if (slug === 'activity') await app.locator('main details:visible').first().waitFor()
  await app.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  })
  await app.screenshot({ path: join(ofApp, `${slug}.png`) })
}
console.log(`wrote account.png, top-up.png and activity.png into ${ofApp}`)
