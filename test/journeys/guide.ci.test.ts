import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { maxUint256 } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { type Person, personOf } from '#infra/demo/person'
import { repositoryDir } from '#infra/local/folders'
import type { RunningStack } from '#infra/local/stack'
import { okOf } from '#shared/client/client'
import { browserPath, noBrowser, openBrowser } from '../browser/browser'
import { allowanceOf } from '../support/ledger'
import { fund } from '../support/people'
import { sharedStack } from '../support/stack'
import { waitUntil } from '../support/wait'

let stack: RunningStack
let person: Person
let folder: string
let env: Record<string, string>

const examplesDir = join(repositoryDir, 'services/gateway/guide/examples')

beforeAll(async () => {
  stack = await sharedStack()
  const { gateway, sandbox, chain, webhooks } = stack.info
  const key = generatePrivateKey()
  person = personOf(stack.info, key)
  folder = mkdtempSync(join(tmpdir(), 'guide-'))
  symlinkSync(process.execPath, join(folder, 'bun'))
  env = {
    PATH: `${folder}:${process.env.PATH}`,
    HOME: folder,
    BASE_URL: gateway,
    PRIVATE_KEY: key,
    SANDBOX: sandbox,
    WALLET: person.wallet,
    RPC_URL: chain.rpcUrl,
    WEBHOOK_TOKEN: webhooks.payments.ID,
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const runMs = 100_000

/** Runs a file as its reader does; `onSaid` gets the output early, and a function that asks the program to end. */
async function run(
  name: string,
  words: string[] = [],
  more: Record<string, string> = {},
  onSaid: (soFar: string, end: () => void) => void = () => {},
) {
  const program = name.endsWith('.sh')
    ? ['bash', '-eu', '-o', 'pipefail', join(examplesDir, name)]
    : [process.execPath, join(examplesDir, name), ...words]
  const child = Bun.spawn(program, {
    cwd: name.endsWith('.sh') ? copyOfExamples() : folder,
    env: { ...env, ...more },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: runMs,
  })
  const complaining = new Response(child.stderr).text()
  let isEnding = false
  const end = () => {
    // A second signal would kill the program.
    if (!isEnding) child.kill('SIGTERM')
    isEnding = true
  }
  let said = ''
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += part
    onSaid(said, end)
  }
  if ((await child.exited) !== 0) throw new Error(`${name} failed: ${await complaining}${said}`)
  return said
}

let copied: string | undefined
/**
 * Copies the examples, because shell examples call programs next to them and their output must stay out of the
 * repository.
 */
function copyOfExamples(): string {
  if (copied) return copied
  copied = join(folder, 'examples')
  cpSync(examplesDir, copied, { recursive: true })
  const packages = join(folder, 'node_modules')
  symlinkSync(join(repositoryDir, 'node_modules'), packages)
  cpSync(join(repositoryDir, 'tsconfig.json'), join(folder, 'tsconfig.json'))
  symlinkSync(join(repositoryDir, 'shared'), join(folder, 'shared'))
  cpSync(join(repositoryDir, 'package.json'), join(folder, 'package.json'))
  return copied
}

async function payNewest() {
  const open = await waitUntil('an open checkout', async () => {
    const { inFlight } = okOf(await person.api.activity())
    return inFlight.find(({ status }) => status === 'awaiting_payment')
  })
  await run('pay.sh', [], { PAYMENT_ID: open.id })
  return open.id
}

let signedIn: Promise<{ SESSION: string }> | undefined
/** Returns the session that the guide lets a reader sign in with, which lasts for all tests. */
const session = () => (signedIn ??= run('session.ts').then((said) => ({ SESSION: said.trim() })))
const jsonIn = (text: string) => JSON.parse(text.slice(text.indexOf('{')))

describe('a reader of the guide', () => {
  test('signs in and is verified', async () => {
    expect(await run('sign-in.ts')).toContain('not verified yet')
    const said = await run('sign-in.sh')
    expect(said).toContain('"verified":false')
    expect(said).toContain('{"country":"ID"}')
    expect(said).toMatch(/"url":"http/)
    await run('approve.sh')
    await person.until('verification', (me) => me.verified && BigInt(me.balance.native) > 0n)
    expect(await run('sign-in.ts')).toContain('is verified')
  })

  test('tops up in TypeScript, and waits', async () => {
    const listed = Promise.withResolvers<void>()
    const onSaid = (soFar: string) => {
      if (soFar.includes('top-up: awaiting_payment')) listed.resolve()
    }
    const [said, paymentId] = await Promise.all([run('top-up.ts', [], {}, onSaid), listed.promise.then(payNewest)])
    expect(said).toContain('pay here: http')
    expect(said).toContain(`PAYMENT_ID=${paymentId}\n`)
    expect(said).toContain('top-up: awaiting_payment')
    expect(said).toMatch(/top-up: credited\ncollateral 30769230, limit [1-9]/)
  })

  test('tops up with curl, and waits', async () => {
    const { paymentId } = jsonIn(await run('top-up.sh', [], await session()))
    expect(await run('wait.sh', [], await session())).toContain(paymentId)
    await run('pay.sh', [], { PAYMENT_ID: paymentId })
    expect(await run('wait.ts', [paymentId])).toStartWith('topup credited: ')
  })

  test('saves a receipt', async () => {
    expect(await run('receipt.ts')).toMatch(/^receipt of pay_\S+: receipt\.html\n$/)
    expect(readFileSync(join(folder, 'receipt.html'), 'utf8')).toStartWith('<!doctype html>')
  })

  test('is told of changes, and reads the list when told', async () => {
    const said = await run('watch.ts', [], {}, (soFar, end) => soFar.includes('\n') && end())
    expect(said).toContain('topup credited')
  })

  test('draws from the contract', async () => {
    expect(await run('draw.ts')).toMatch(/^available to draw: [1-9][0-9]*\ndraw: success\n$/)
    await person.until('the draw', (me) => me.drawn === '3000000')
  })

  test('repays part of the debt with their own AUSD', async () => {
    await fund(stack, person.wallet, { ausdMicro: 1_000_000n })
    expect(await run('repay.ts')).toBe('repay: success, owed now: 2000000\n')
  })

  test('allows automatic repayments, which a repayment of their own leaves allowed', async () => {
    expect(await run('auto-repay.ts')).toBe('automatic repayment: success, from wallet, at most 10000000\n')
    expect(await run('draw.ts')).toEndWith('draw: success\n')
    await person.until('the second draw', (me) => me.drawn === '5000000')
    await fund(stack, person.wallet, { ausdMicro: 1_000_000n })
    expect(await run('repay.ts')).toBe('repay: success, owed now: 4000000\n')
    expect(await allowanceOf(stack, person.wallet)).toBe(maxUint256)
    expect((await person.me()).autoRepay).toMatchObject({ maxPerCycle: '10000000', source: 'wallet', taken: '0' })
  })

  test('cashes out and sends in TypeScript', async () => {
    const said = await run('cash-out.ts')
    expect(said).toContain('Rp 16250 on the way to the bank')
    expect(said).toContain('cash-out: paid')
    expect(await run('send.ts')).toMatch(/^send: sent, 0x[0-9a-f]{64}\n$/)
  })

  test('cashes out and sends with curl', async () => {
    const { payoutId } = jsonIn(await run('cash-out.sh', [], await session()))
    const { sendId } = jsonIn(await run('send.sh', [], await session()))
    expect(await run('wait.ts', [payoutId])).toStartWith('cashout paid: ')
    expect(await run('wait.ts', [sendId])).toStartWith('send sent: ')
  })

  test('pays part of the debt in rupiah', async () => {
    const [said] = await Promise.all([run('part.ts'), payNewest()])
    expect(said).toContain('pay here: http')
    expect(said).toEndWith('part: success, owed now: 2769231\n')
  })

  test('settles the debt, after which nothing is owed', async () => {
    const [said, paymentId] = await Promise.all([run('settle.ts'), payNewest()])
    expect(said).toContain(`PAYMENT_ID=${paymentId}\n`)
    expect(said).toContain('settlement: repaid, owed now: 0')
    expect(await run('settle.ts')).toBe('nothing is owed\n')
    const refused = await run('settle.sh', [], await session())
    expect(refused).toMatch(/^x-error-code: nothing_owed\r$/im)
    expect(refused).toContain('{"error":"nothing is owed"}')
  })

  test('sees the record, once the reader has seen the closed cycle', async () => {
    await waitUntil('the cycle in the record', async () => {
      const record = okOf(await person.api.record(person.wallet))
      return record.history?.cycleCount === 1
    })
    // A late reader leaves out the history.
    const withHistory = (name: string) =>
      waitUntil(`${name} with the history`, async () => {
        const said = await run(name)
        return said.includes('Qualified') && said
      })
    expect(await withHistory('record.ts')).toMatch(/1 closed cycles\ncycle 1: Qualified\n/)
    expect(jsonIn(await withHistory('record.sh'))).toMatchObject({
      cycles: 1,
      outcomes: ['Qualified'],
    })
  })

  test('plays the provider: a delivery is recorded once, and moves nothing', async () => {
    const before = okOf(await person.api.activity())
    expect(await run('webhook.sh')).toBe('{"status":"recorded"}\n{"status":"duplicate"}\n')
    expect(okOf(await person.api.activity())).toEqual(before)
  })
})

describe('the pages of the guide in a browser', () => {
  const found = browserPath()
  if (!found) console.warn(noBrowser)
  const names = ['', '/sign-in', '/cash-out', '/wait', '/webhooks', '/errors']

  test.if(found !== undefined)('fit a phone and a desktop, in light and dark', async () => {
    await using browser = await openBrowser(found!)
    const guide = `${stack.info.gateway}/docs/guide`
    const page = await browser.open(guide)
    for (const name of names) {
      await page.goto(`${guide}${name}`)
      for (const dark of [false, true]) {
        await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
        const colours = await page.evaluate(() => {
          const { color, backgroundColor } = getComputedStyle(document.body)
          return [color, backgroundColor].map((one) => Number(/\d+/.exec(one)?.[0]))
        })
        expect(colours[0]! > colours[1]!).toBe(dark)
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 740 })
          const wide = await page.evaluate(() => document.documentElement.scrollWidth)
          expect(`${name} ${wide}`).toBe(`${name} ${width}`)
        }
      }
    }
    expect(browser.complaints).toEqual([])
  })
})
