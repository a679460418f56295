import { type Browser, chromium, type Page } from 'playwright-core'
import { patienceMs } from '#infra/local/wait'

/** Names of the program, which `CHROMIUM` overrides. */
const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Finds a browser, such as Debian's package `chromium`; none is downloaded. */
export const browserPath = (): string | undefined =>
  process.env.CHROMIUM || names.flatMap((name) => Bun.which(name) ?? [])[0]

export const noBrowser = 'Chromium not found, so no page was opened: run apt-get install chromium, or set CHROMIUM.'

export type Opened = AsyncDisposable & {
  /** Opens a page; `phone` is as narrow as a small phone. */
  readonly open: (address: string, more?: { dark?: boolean; phone?: boolean }) => Promise<Page>
  /** Errors in the browser's console and violations of the content security policy. */
  readonly complaints: readonly string[]
}

export async function openBrowser(executablePath: string): Promise<Opened> {
  // Chromium's sandbox needs rights that a container lacks, and the pages are trusted.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const complaints: string[] = []
  return {
    complaints,
    open: async (address, { dark = false, phone = false } = {}) => {
      const context = await browser.newContext({
        viewport: phone ? { width: 360, height: 740 } : { width: 1280, height: 800 },
        locale: 'en-GB',
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
      })
      context.setDefaultTimeout(patienceMs)
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
