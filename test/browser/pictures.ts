import { join, resolve } from 'node:path'
import { play } from '#infra/demo/play'
import { repositoryDir } from '#infra/local/folders'
import { readStackFile } from '#infra/local/stack-file'
import { browserPath, noBrowser, openBrowser } from './browser'

/** `bun test/browser/pictures.ts`: takes the console's pictures of the running stack, during a demo. */
const folder = join(repositoryDir, 'services/gateway/operators/pictures')
const path = browserPath()
if (!path) throw new Error(noBrowser)
const stack = readStackFile(resolve(process.env.LOCAL_DIR || join(repositoryDir, '.local')))

await using browser = await openBrowser(path)
const light = await browser.open(stack.ops.console)
const dark = await browser.open(stack.ops.console, { dark: true })
await play(stack)

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
