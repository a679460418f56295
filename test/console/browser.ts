import { type Browser, chromium, type Page } from 'playwright-core'

/** Where a browser may be; `CHROMIUM` names another. */
const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The Chromium of this machine. Debian has it as the package `chromium`; none is downloaded. */
export const browserPath = (): string | undefined =>
  process.env.CHROMIUM || names.flatMap((name) => Bun.which(name) ?? [])[0]

/** What a suite says on a machine without one. */
export const noBrowser =
  'No Chromium is here, so the pages were not opened: apt-get install chromium, or set CHROMIUM.'

export type Opened = AsyncDisposable & {
  readonly open: (address: string, more?: { dark?: boolean }) => Promise<Page>
  /** What pages complained of: errors, and what their policy refused. */
  readonly complaints: readonly string[]
}

/** Starts the browser; it ends with the suite. */
export async function openBrowser(executablePath: string): Promise<Opened> {
  // Its own sandbox needs rights that a container does not have, and these pages are ours.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const complaints: string[] = []
  return {
    complaints,
    open: async (address, { dark = false } = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(address)
      return page
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}
