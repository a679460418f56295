import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { devAccount, devKey } from '#infra/local/keys'
import { type DeployFixture, type Env, installToken, openDeployFixture, spawnRun } from '#test/support/deploy/fixture'

const otherToken = devAccount('other token').address
const zeroHash = `0x${'00'.repeat(32)}`

let fixture: DeployFixture
let env: Env
beforeAll(async () => {
  fixture = await openDeployFixture()
  const deployed = await spawnRun(fixture, { AUSD_ADDRESS: 'deploy', DEPLOY_TEST_FUNDS: 'yes' })
  expect(deployed.exitCode).toBe(0)
  await installToken(
    fixture,
    otherToken,
    (code) => code.replace(hexOf('Agora Dollar'), hexOf('Agora Dolour')) as `0x${string}`,
  )
  const { genesisHash, ausd, creditLine, deployBlock } = JSON.parse(readFileSync(fixture.env.ADDRESSES_FILE!, 'utf8'))
  const { RPC_URLS, LANE_KEYS, TREASURY_KEY } = fixture.env as Record<string, string>
  env = {
    DEPLOYMENT: 'local',
    PUBLIC_SECRETS: 'allowed',
    RPC_URLS: RPC_URLS!,
    LANE_KEYS: LANE_KEYS!,
    TREASURY_KEY: TREASURY_KEY!,
    CHAIN_ID: '10143',
    GENESIS_HASH: genesisHash,
    AUSD_ADDRESS: ausd,
    CREDIT_LINE_ADDRESS: creditLine,
    DEPLOY_BLOCK: String(deployBlock),
    // No server listens there: the chain is checked before anything else is opened.
    NATS_URL: 'nats://127.0.0.1:9',
    NATS_PASSWORD: 'none',
    DATABASE_URL: 'postgres://none@127.0.0.1:9/none',
  }
})
afterAll(() => fixture.close())
const hexOf = (text: string) => Buffer.from(text).toString('hex')

/** Starts a service. `enough` ends the wait and the service. */
async function start(name: string, more: Env, enough: (text: string) => boolean = () => false) {
  const child = Bun.spawn([process.execPath, join('services', name, 'main.ts')], {
    cwd: repositoryDir,
    env: { PATH: process.env.PATH ?? '', ...env, ...more },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 45_000)
  let text = ''
  const looking = setInterval(() => enough(text) && child.kill('SIGKILL'), 20)
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) text += decoder.decode(chunk, { stream: true })
  await child.exited
  clearTimeout(timer)
  clearInterval(looking)
  const fatal = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 'fatal')
  return { exitCode: child.exitCode, fatal, text }
}

describe('chain-relayer', () => {
  test.each<[string, Env, RegExp]>([
    ['chain id', { CHAIN_ID: '1' }, /points to chain 10143, but CHAIN_ID is 1: fix/],
    ['genesis', { GENESIS_HASH: zeroHash }, /after a reset of the chain, deploy and set it/],
    ['token domain', { AUSD_ADDRESS: otherToken }, /another EIP-712 domain \(Agora Dolour/],
    ['treasury', { TREASURY_KEY: devKey('nobody') }, /set TREASURY_KEY to its key/],
  ])('chain-relayer with the wrong %s ends at the start with the fix', async (_case, more, words) => {
    const { exitCode, fatal, text } = await start('chain-relayer', more)
    expect(exitCode).toBe(1)
    expect(fatal).toHaveLength(1)
    expect(fatal[0].reason).toMatch(words)
    for (const key of [devKey('lane 0'), devKey('treasury'), devKey('nobody')]) expect(text).not.toContain(key.slice(2))
  })
})

describe('indexer-reader', () => {
  test.each<[string, Env, RegExp]>([
    ['chain id', { CHAIN_ID: '1' }, /chain id 10143, not 1: fix .*bun run deploy/],
    ['genesis', { GENESIS_HASH: zeroHash }, /block 0 is 0x.*, not 0x0000.*: fix/],
  ])('indexer-reader with the wrong %s ends at the start with the fix', async (_case, more, words) => {
    const { exitCode, fatal } = await start('indexer-reader', more)
    expect(exitCode).toBe(1)
    expect(fatal).toHaveLength(1)
    expect(fatal[0].reason).toMatch(words)
  })
})

describe.each(['chain-relayer', 'indexer-reader'])('%s', (name) => {
  test('a service waits for an endpoint that is down instead of ending', async () => {
    let asked = 0
    const socket = {
      open: (caller: Bun.Socket) => {
        asked += 1
        caller.end()
      },
      data: () => {},
    }
    const away = Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
    const waits = 'chain not responding, will retry'
    const url = { RPC_URLS: `http://127.0.0.1:${away.port}` }
    let atFirst = 0
    const { fatal, text } = await start(name, url, (said) => {
      if (atFirst === 0 && said.includes(waits)) atFirst = asked
      return atFirst > 0 && asked > atFirst
    })
    away.stop(true)
    expect(asked).toBeGreaterThan(atFirst)
    expect(text.split(waits)).toHaveLength(2)
    expect(fatal).toEqual([])
  })

  test('a service on the right chain goes on to connect to NATS', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const socket = { open: () => resolve('connected'), data: () => {} }
    const bus = Bun.listen({ hostname: '127.0.0.1', port: 0, socket })
    const child = Bun.spawn([process.execPath, join('services', name, 'main.ts')], {
      cwd: repositoryDir,
      env: { PATH: process.env.PATH ?? '', ...env, NATS_URL: `nats://127.0.0.1:${bus.port}` },
      stdout: 'ignore',
      stderr: 'inherit',
    })
    const ended = child.exited.then((code) => `ended with ${code}`)
    try {
      expect(await Promise.race([promise, ended])).toBe('connected')
    } finally {
      child.kill('SIGKILL')
      await child.exited
      bus.stop(true)
    }
  })
})
