import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { deployment, environmentOf, localStack, localVariables, wordsOf } from '#infra/compose/composition'
import { startTopUps } from '#infra/compose/smoke-test/traffic'
import { deployContracts } from '#infra/contracts/deploy'
import { outsideOf } from '#infra/demo/external'
import { personOf } from '#infra/demo/person'
import { chainAnswers, localTerms } from '#infra/local/chain'
import type { Child } from '#infra/local/child'
import { laneKeys } from '#infra/local/environment'
import { repositoryDir } from '#infra/local/folders'
import { devKey } from '#infra/local/keys'
import { natsAnswers } from '#infra/local/nats'
import { postgresAnswers } from '#infra/local/postgres'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { processNames } from '#shared/messages/topic'
import { startAnvil } from '#test/support/engines/anvil'
import { childrenOf } from '#test/support/processes'
import { type Rehearsal, rehearse } from './rehearsal'

const variables = localVariables()
const oneShots = ['settings', 'migrate', 'provision', 'deploy']
const backbone = ['postgres', 'nats', 'chain']
const watched = [...processNames, 'sandbox']

let rehearsal: Rehearsal
const running = new Map<string, Child>()

/**
 * Starts a process, and again if it ends by itself, as the restart policy of its container does. Postgres ends at once while
 * connections of a killed one still hold its memory.
 */
function keep(name: string): void {
  const child = rehearsal.start(name)
  running.set(name, child)
  void child.exited.then(async () => {
    await pause(100)
    if (running.get(name) === child) keep(name)
  })
}

async function stop(name: string, signal: NodeJS.Signals): Promise<void> {
  const child = running.get(name)!
  running.delete(name)
  await child.end(signal)
}

beforeAll(async () => {
  rehearsal = await rehearse()
  for (const name of backbone) keep(name)
  await Promise.all([
    waitUntil('Postgres', () => postgresAnswers(rehearsal.databaseUrl)),
    waitUntil('nats-server', () => natsAnswers(rehearsal.natsMonitor)),
    waitUntil('the chain', () => chainAnswers(rehearsal.rpcUrl)),
  ])
})
afterAll(() => {
  running.clear()
  return rehearsal[Symbol.asyncDispose]()
})

const healthchecks = localStack().services
const check = (name: string) => rehearsal.exec(name, wordsOf(healthchecks[name]!.healthcheck!.test.slice(1), variables))
const logOf = (name: string) => readFileSync(join(rehearsal.dir, `logs/${name}.log`), 'utf8')
const withLog = (name: string) => (error: Error) => {
  throw new Error(`${error.message}; log of ${name}: ${logOf(name).slice(-3_000)}`)
}

describe('a local stack whose containers run as processes with the same commands and variables', () => {
  // The order of the tests is that of depends_on.
  test.each(oneShots)('%s does its work and ends', async (name) => {
    const how = await rehearsal.start(name).exited
    expect(how === 'exit 0' || logOf(name)).toBe(true)
  })

  test.each(oneShots)('%s changes nothing the second time, and ends', async (name) => {
    expect(await rehearsal.start(name).exited).toBe('exit 0')
  })

  test('the contracts are at the addresses in .env', () => {
    const path = join(rehearsal.dir, 'data/addresses.json')
    const { ausd, creditLine, treasury } = JSON.parse(readFileSync(path, 'utf8'))
    expect({ ausd, creditLine, treasury }).toEqual({
      ausd: variables.AUSD_ADDRESS,
      creditLine: variables.CREDIT_LINE_ADDRESS,
      treasury: variables.TREASURY_ADDRESS,
    })
  })

  test("the six services, the operators' process and the sandbox become ready", async () => {
    for (const name of watched) keep(name)
    const ready = async () => (await fetch(`${rehearsal.gateway}/ready`)).ok
    await waitUntil('everything being ready', ready).catch(withLog('gateway'))
  })

  test.each([...watched, 'chain'])('%s is healthy', async (name) => {
    await waitUntil(name, async () => (await check(name)) === 'exit 0').catch(withLog(name))
  })

  test('the stack answers a quote', async () => {
    const body = JSON.stringify({ pair: 'USD/IDR' })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${rehearsal.gateway}/quote`, { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({ rate: '16250' })
  })

  test('a top-up of Rp 5,000,000 is opened, because the treasury is funded as by `start`', async () => {
    const person = personOf(rehearsal.stack, devKey('a user of compose'))
    await person.me()
    await outsideOf(rehearsal.stack).identity(person.wallet, 'approved')
    await person.until('verification', (me) => me.verified)
    const { id: quoteId } = await person.quote('USD/IDR')
    const opened = await person.post('/topups', { amount: '5000000', method: 'qr', quoteId })
    expect(opened).toMatchObject({
      status: 200,
      body: { checkoutUrl: expect.stringContaining(rehearsal.stack.sandbox) },
    })
  })

  test('the reference app names gateway and chain as a browser reaches them, and the gateway allows it', async () => {
    const { gateway, sandbox, chain } = rehearsal.stack
    const page = await (await fetch(`${sandbox}/app`)).text()
    expect(page).toContain(`data-gateway="${gateway}" data-rpc="${chain.rpcUrl}"`)
    expect((await fetch(`${sandbox}/app/main.js`)).status).toBe(200)
    const asked = { headers: { origin: sandbox, 'access-control-request-method': 'GET' }, method: 'OPTIONS' }
    const allowed = await fetch(`${gateway}/me`, asked)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(sandbox)
  })

  test('the webhook probe of the runbook is recorded, then a duplicate, and refused with another token', async () => {
    const probe = async (token: string) => {
      const headers = { 'x-callback-token': token, 'webhook-id': 'probe-1' }
      const request = { method: 'POST', headers, body: '{"event":"probe"}' }
      const answer = await fetch(`${rehearsal.gateway}/webhooks/payments`, request)
      return answer.ok ? ((await answer.json()) as { status: string }).status : answer.status
    }
    const token = variables.PAYMENTS_CALLBACK_TOKENS_ID!
    expect([await probe(token), await probe(token), await probe('x')]).toEqual(['recorded', 'duplicate', 401])
  })

  test('the session of the runbook signs a user in', async () => {
    const script = `import { privateKeyToAccount } from 'viem/accounts'
      import { signIn } from './shared/client/session'
      const until = Math.floor(Date.now() / 1000) + 3600
      console.log(await signIn(privateKeyToAccount(process.env.WALLET_KEY), until))`
    const words = [process.execPath, '-e', script]
    const env = { ...process.env, WALLET_KEY: devKey('reader of the runbook') }
    const child = Bun.spawn(words, { cwd: repositoryDir, env })
    const session = (await new Response(child.stdout).text()).trim()
    const headers = { Authorization: session }
    const answer = await fetch(`${rehearsal.gateway}/me`, { headers })
    expect(await answer.json()).toMatchObject({ verified: false })
  })

  test.each([
    ['ops', 'infra/operations/cli/main.ts status'],
    ['indexer-reader', 'services/indexer-reader/rebuild.ts'],
  ])('an operator runs in %s: bun %s', async (name, words) => {
    const how = await rehearsal.exec(name, ['bun', ...words.split(' ')])
    expect(how === 'exit 0' || logOf(name)).toBe(true)
  })

  test('top-ups that are paid during kills and a restart are credited once, and the books balance', async () => {
    const traffic = await startTopUps(rehearsal.stack)
    const underTraffic = () => traffic.goesOn(3)
    const killAnvil = () => process.kill(childrenOf(running.get('chain')!.pid)[0]!, 'SIGKILL')
    for (const name of ['anvil', ...backbone, 'chain-relayer', 'payments', 'sandbox']) {
      await underTraffic()
      if (name === 'anvil') killAnvil()
      else {
        await stop(name, 'SIGKILL')
        keep(name)
      }
    }
    await underTraffic()
    // The order is that of `docker compose restart`.
    for (const name of watched) await stop(name, 'SIGTERM')
    for (const name of backbone) await stop(name, name === 'postgres' ? 'SIGINT' : 'SIGTERM')
    for (const name of [...backbone, ...watched]) keep(name)
    await underTraffic()
    expect((await traffic.credited()).paid).toBeGreaterThan(20)
    const reconcile = ['bun', 'infra/operations/cli/main.ts', 'reconcile']
    const balance = async () => (await rehearsal.exec('ops', reconcile)) === 'exit 0'
    await waitUntil('the books to balance', balance, patienceMs, 3_000)
  })

  test.each(['payments', 'gateway', 'sandbox'])('%s is unhealthy once it is gone', async (name) => {
    await stop(name, 'SIGTERM')
    expect(await check(name)).toBe('exit 1')
  })

  test('payouts is unhealthy after half a minute without a liveness file', async () => {
    const file = join(rehearsal.dir, 'alive-payouts')
    await waitUntil('payouts', async () => (await check('payouts')) === 'exit 0')
    await stop('payouts', 'SIGKILL')
    const ago = new Date(Date.now() - 40_000)
    utimesSync(file, ago, ago)
    expect(await check('payouts')).toBe('exit 1')
  })
})

describe('.env', () => {
  test('has the keys of the local stack, and their addresses on a fresh chain', async () => {
    expect([variables.ADMIN_KEY, variables.TREASURY_KEY]).toEqual(['admin', 'treasury'].map(devKey))
    expect(variables.LANE_KEYS).toBe(laneKeys.join(','))
    await using chain = await startAnvil()
    const lanes = laneKeys.map((key) => privateKeyToAccount(key).address)
    const deployment = await deployContracts({
      ...localTerms,
      rpcUrl: chain.rpcUrl,
      adminKey: devKey('admin'),
      treasuryKey: devKey('treasury'),
      relayers: lanes,
      verifiers: lanes,
      treasuryFundsMicro: 1_000_000n,
      liquidityMicro: 1_000_000n,
    })
    expect([deployment.ausd, deployment.creditLine, deployment.treasury]).toEqual([
      variables.AUSD_ADDRESS as `0x${string}`,
      variables.CREDIT_LINE_ADDRESS as `0x${string}`,
      variables.TREASURY_ADDRESS as `0x${string}`,
    ])
  })

  test('security: has no password that could be mistaken for a real one', () => {
    const passwords = Object.entries(variables).filter(([name]) => /PASSWORD|TOKEN|SECRET/.test(name))
    expect(passwords.filter(([, value]) => !/local.only/.test(value!))).toEqual([])
  })

  test('security: prevents another deployment from starting with it', async () => {
    const { settings } = deployment().services
    const child = Bun.spawn([process.execPath, ...settings!.command!.slice(1)], {
      cwd: repositoryDir,
      env: environmentOf(settings!, variables),
      stdout: 'pipe',
    })
    const text = await new Response(child.stdout).text()
    expect([await child.exited, text]).toEqual([1, expect.stringContaining('nothing was started')])
    expect(text).toContain('TREASURY_KEY is public')
    expect(text).not.toContain(variables.TREASURY_KEY!)
  })
})
