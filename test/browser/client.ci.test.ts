import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Address, createWalletClient, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { repositoryDir } from '#infra/local/folders'
import type { RunningStack } from '#infra/local/stack'
import { chainOf } from '#shared/chain/client'
import { ausdOf } from '#test/support/ledger'
import { sharedStack } from '#test/support/stack'
import type { Steps } from './app'
import { browserPath, noBrowser, type Opened, openBrowser } from './browser'

// An app of another origin, with the installed client and an injected wallet (EIP-1193), as the guide connects it.

const found = browserPath()
if (!found) console.warn(noBrowser)
const withBrowser = test.if(found !== undefined)

const origin = 'http://localhost:5173'

let stack: RunningStack
let browser: Opened
let script: string
beforeAll(async () => {
  if (!found) return
  stack = await sharedStack()
  browser = await openBrowser(found)
  script = await bundledApp()
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
})

async function bundledApp(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'app.ts')],
    target: 'browser',
    plugins: [
      {
        name: 'installed client',
        setup: (build) => {
          const path = join(repositoryDir, 'shared/client/client.gen.js')
          build.onResolve({ filter: /^ausd-credit-client$/ }, () => ({ path }))
        },
      },
    ],
  })
  return outputs[0]!.text()
}

type Request = { readonly method: string; readonly params: readonly unknown[] }

/** Opens the wallet of a person, who declines the first `declines` signatures. */
function openWallet(declines = 0) {
  const account = privateKeyToAccount(generatePrivateKey())
  const { rpcUrl, chainId } = stack.info.chain
  const chain = createWalletClient({ account, chain: chainOf(chainId), transport: http(rpcUrl) }).extend(publicActions)
  const asked: string[] = []
  const requests: Record<string, (...params: never[]) => unknown> = {
    eth_requestAccounts: () => [account.address],
    eth_accounts: () => [account.address],
    personal_sign: (raw: Hex) => account.signMessage({ message: { raw } }),
    eth_signTypedData_v4: (_: Address, typed: string) => account.signTypedData(JSON.parse(typed)),
    eth_sendTransaction: ({ to, data, gas }: { to: Address; data: Hex; gas: Hex }) =>
      chain.sendTransaction({ to, data, gas: BigInt(gas) }),
  }
  return {
    account,
    asked,
    /** Answers a request as wallets do: a declined one has the code 4001. */
    request: async ({ method, params }: Request): Promise<object> => {
      asked.push(method)
      if (/sign/i.test(method) && declines-- > 0)
        return { error: { code: 4001, message: 'User rejected the request.' } }
      const own = requests[method]
      return { result: own ? await own(...(params as never[])) : await chain.request({ method, params } as never) }
    },
  }
}

/** Opens the app in a tab whose wallet is `wallet`, and whose clock is ahead by `aheadMs`. */
async function openApp(wallet: ReturnType<typeof openWallet>, aheadMs = 0): Promise<Page> {
  const page = await browser.open('about:blank')
  // The test itself answers for the origin, so Chromium takes it for a public one, which may not call this machine unasked.
  await page.context().grantPermissions(['local-network-access'])
  await page.route(`${origin}/**`, (route) =>
    new URL(route.request().url()).pathname === '/'
      ? route.fulfill({
          contentType: 'text/html',
          body: '<!doctype html><title>App</title><script src="app.js"></script>',
        })
      : route.fulfill({ contentType: 'text/javascript', body: script }),
  )
  await page.exposeFunction('askWallet', wallet.request)
  await page.addInitScript((aheadMs) => {
    const { now } = Date
    Date.now = () => now() + aheadMs
    const request = async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
      const { result, error } = await (
        globalThis as never as { askWallet: (asked: object) => Promise<never> }
      ).askWallet({
        method,
        params,
      })
      if (error) throw Object.assign(new Error('declined'), error)
      return result
    }
    Object.assign(globalThis, { ethereum: { request, on: () => {}, removeListener: () => {} } })
  }, aheadMs)
  await page.goto(origin)
  return page
}

type Globals = {
  openApp: (baseUrl: string, provider: unknown) => Promise<Steps>
  ethereum: unknown
  app?: Promise<Steps>
}

/** Runs a step of the app in the page, which connects the wallet at the first step after a load. */
const step = <N extends keyof Steps>(page: Page, name: N, ...words: Parameters<Steps[N]>) =>
  page.evaluate(
    async ([baseUrl, name, words]) => {
      const page = globalThis as never as Globals
      page.app ??= page.openApp(baseUrl, page.ethereum)
      const run = (await page.app)[name] as (...words: unknown[]) => unknown
      return run(...words)
    },
    [stack.info.gateway, name, words as unknown[]] as const,
  ) as ReturnType<Steps[N]>

/** Opens an address as a page of its own, and presses a button there. */
async function press(page: Page, address: string, name: string | RegExp): Promise<void> {
  const other = await page.context().newPage()
  await other.goto(address)
  await other.getByRole('button', { name }).click()
  await other.waitForLoadState()
  await other.close()
}

withBrowser(
  'an injected wallet signs in once for all page loads, and its user tops up, draws, cashes out and sends',
  async () => {
    const wallet = openWallet()
    const page = await openApp(wallet)
    await press(page, (await step(page, 'verify'))!, 'Approve')
    await step(page, 'verified')
    const checkout = await step(page, 'topUp')
    await press(page, checkout.checkoutUrl, /^Pay /)
    expect(await step(page, 'ended', checkout.paymentId)).toBe('credited')
    await page.reload()
    await step(page, 'draw', '3000000')
    expect(await step(page, 'ended', await step(page, 'cashOut', '1000000'))).toBe('paid')
    const to = privateKeyToAddress(generatePrivateKey())
    expect(await step(page, 'ended', await step(page, 'send', '500000', to))).toBe('sent')
    expect(await ausdOf(stack, to)).toBe(500_000n)
    expect(await ausdOf(stack, wallet.account.address)).toBe(1_500_000n)
    const signed = wallet.asked.filter((method) => /sign|send/i.test(method))
    expect(signed).toEqual(['personal_sign', 'eth_sendTransaction', 'eth_signTypedData_v4', 'eth_signTypedData_v4'])
    // A busy service answers 503, and the client repeats the request.
    expect(browser.complaints.filter((one) => !one.includes('status of 503'))).toEqual([])
  },
)

withBrowser('a user who declines to sign in is asked again at the next request', async () => {
  const wallet = openWallet(1)
  const page = await openApp(wallet)
  await expect(step(page, 'me')).rejects.toThrow(/reject|declined/i)
  expect((await step(page, 'me')).wallet).toBe(wallet.account.address.toLowerCase() as Address)
})

withBrowser.each([-2, 9])(
  'a browser whose date is wrong by %d days signs in by the clock of the service',
  async (days) => {
    const wallet = openWallet()
    const page = await openApp(wallet, days * 86_400_000)
    expect((await step(page, 'me')).verified).toBe(false)
    expect(wallet.asked.filter((method) => method === 'personal_sign')).toHaveLength(2)
  },
)
