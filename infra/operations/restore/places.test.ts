import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { operatorDatabaseUrl, withDatabase } from '#infra/operations/cli/connection'
import { operatorAccess } from '#infra/operations/cli/operator'
import { operatorPlace } from '#infra/operations/place'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { askedBy, busPlace } from './main'

const wallet = `0x${'1'.repeat(40)}`
const env = {
  AUSD_ADDRESS: wallet,
  CREDIT_LINE_ADDRESS: wallet,
  TREASURY_ADDRESS: wallet,
  DEPLOY_BLOCK: '7',
  DATABASE_ADMIN_URL: 'postgres://live.example.com/live',
  NATS_URL: 'tls://nats.example.com:4222',
  NATS_PASSWORD_ADMIN: 'the admin',
  PROVIDER_URL: 'https://provider.example.com',
  PROVIDER_REQUESTS_PER_MINUTE: '9',
  PROVIDER_ID_SECRET_KEY: 'key of ID',
  PROVIDER_MY_SECRET_KEY: 'key of MY',
  LOCAL_DIR: '/nowhere',
}

describe('restore reads chain, bus and provider from the same deployment', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'secrets-')), 'rpc_urls')
  writeFileSync(file, 'https://one.example.com,https://two.example.com\n')
  afterAll(() => rmSync(dirname(file), { recursive: true }))

  const [one, two] = ['https://one.example.com', 'https://two.example.com']
  test.each([
    { chain: { RPC_URL: one }, rpcUrls: [one] },
    { chain: { RPC_URLS_FILE: file }, rpcUrls: [one, two] },
    { chain: { RPC_URLS: `${one},${two}` }, rpcUrls: [one, two] },
  ])('restore reads chain, NATS and provider from the same deployment if $chain is set', ({ chain, rpcUrls }) => {
    const deployment = { ...env, ...chain }
    const provider = {
      url: 'https://provider.example.com',
      requestsPerMinute: 9,
      keys: { ID: 'key of ID', MY: 'key of MY' },
    }
    expect(operatorPlace(deployment)).toMatchObject({ rpcUrls, provider })
    expect(busPlace(deployment)).toEqual({ url: env.NATS_URL, password: 'the admin' })
  })
})

test.each(['DATABASE_OPS_URL', 'DATABASE_ADMIN_URL'])(
  'the rows of a deployment that %s names are never compared with the chain and provider of a local stack',
  (name) => {
    const dir = mkdtempSync(join(tmpdir(), 'stack-'))
    const [address, url] = [wallet, 'http://127.0.0.1:1']
    const nats = { url, admin: { user: 'admin', password: 'p' } }
    const chain = { rpcUrl: url, chainId: 1, ausd: address, creditLine: address, treasury: address }
    const provider = { ID: { secretKey: 'k' }, MY: { secretKey: 'k' } }
    const databases = { postgres: { url }, ops: { databaseUrl: url } }
    writeFileSync(
      join(dir, 'stack.json'),
      JSON.stringify({ gateway: url, sandbox: url, ...databases, nats, chain, provider }),
    )
    const local = { LOCAL_DIR: dir }
    expect(operatorPlace(local)).toMatchObject({ rpcUrls: [url] })
    expect(busPlace(local)).toMatchObject({ url })
    const live: NodeJS.ProcessEnv = { ...local, [name]: 'postgres://live.example.com/live' }
    expect(() => operatorPlace(live)).toThrow(`${name} is set: set RPC_URLS too`)
    expect(() => busPlace(live)).toThrow(`${name} is set: set RPC_URLS too`)
    const other = name === 'DATABASE_OPS_URL' ? 'DATABASE_ADMIN_URL' : 'DATABASE_OPS_URL'
    const urlOfOther = other === 'DATABASE_OPS_URL' ? operatorAccess : operatorDatabaseUrl
    expect(urlOfOther(local)).toBeTruthy()
    expect(() => urlOfOther(live)).toThrow(`${name} is set: set ${other} too`)
    const { DATABASE_ADMIN_URL: _, ...others } = env
    const elsewhere = { ...others, ...local, RPC_URLS: 'https://rpc.example.com' }
    expect(operatorPlace({ ...elsewhere, [name]: live[name] })).toMatchObject({ deployBlock: 7n })
    expect(() => operatorPlace(elsewhere)).toThrow('RPC_URL is set: set DATABASE_OPS_URL or DATABASE_ADMIN_URL too')
    rmSync(dir, { recursive: true })
  },
)

test.each([
  [['--since', 'soon'], '--since must be the time of the backup'],
  [['--since', '2026-11-31T01:00:00Z'], '--since must be the time of the backup'],
  [['--since', '2026-11-22 01:00:00'], '--since must be the time of the backup'],
  [['--since', '2999-11-01'], '--since is in the future'],
  [['--since', '2026-11-01', '--erased', 'nonsense'], 'nonsense is not <wallet>@<time>'],
  [['--since', '2026-11-01', '--erased', `0x${'ab'.repeat(20)}@2026-11-31`], /@2026-11-31 is not <wallet>@<time>/],
  [['--sinze', '2026-11-01'], "Unknown option '--sinze'"],
])('a restore refuses the arguments %p', (args, fault) => {
  expect(() => askedBy(args)).toThrow(fault)
})

test.each([
  ['2026-11-22T01:00:00Z', '2026-11-22T01:00:00.000Z'],
  ['2026-11-22 01:00:00 UTC', '2026-11-22T01:00:00.000Z'],
  ['2026-11-22T08:00:00+07:00', '2026-11-22T01:00:00.000Z'],
])('a restore takes the time of the backup from %p', (since, at) => {
  expect(askedBy(['--since', since]).asked.since.toISOString()).toBe(at)
})

test('security: a restore that cannot reach the chain prints no key of its endpoint', async () => {
  await using server = await startScratchPostgres()
  const key = 'k'.repeat(24)
  await withDatabase(
    server.adminUrl,
    (sql) => sql`insert into chain_relayer.lane (address, next_nonce) values (${wallet}, 0)`,
  )
  const run = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), '--since', '2026-11-01'], {
    env: {
      ...env,
      PUBLIC_SECRETS: 'allowed',
      DATABASE_ADMIN_URL: server.adminUrl,
      RPC_URLS: `http://127.0.0.1:1/v2/${key}`,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([run.stdout, run.stderr].map((stream) => new Response(stream).text()))
  expect(await run.exited).toBe(1)
  expect(complaint).toContain('HTTP request failed')
  expect(`${said}${complaint}`).not.toContain(key)
})
