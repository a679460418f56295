import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { operatorPlace } from '#infra/operations/place'
import { askedBy, otherPlaces } from './main'

const wallet = `0x${'1'.repeat(40)}`
const env = {
  ...{ AUSD_ADDRESS: wallet, CREDIT_LINE_ADDRESS: wallet, TREASURY_ADDRESS: wallet },
  ...{ DEPLOY_BLOCK: '7', GATEWAY_URL: 'https://gateway.example.com' },
  ...{ NATS_URL: 'tls://nats.example.com:4222', NATS_PASSWORD_ADMIN: 'the admin' },
  ...{ PROVIDER_URL: 'https://provider.example.com', PROVIDER_REQUESTS_PER_MINUTE: '9' },
  ...{ PROVIDER_ID_SECRET_KEY: 'key of ID', PROVIDER_MY_SECRET_KEY: 'key of MY' },
  LOCAL_DIR: '/nowhere',
}

describe('restore reads chain, bus and provider from the same deployment', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'secrets-')), 'rpc_urls')
  writeFileSync(file, 'https://one.example.com,https://two.example.com\n')
  afterAll(() => rmSync(dirname(file), { recursive: true }))

  test.each([
    { RPC_URL: 'https://one.example.com' },
    { RPC_URLS_FILE: file },
    { RPC_URLS: 'https://one.example.com,https://two.example.com' },
  ])('if %o is set', (chain) => {
    const deployment = { ...env, ...chain }
    const provider = {
      url: 'https://provider.example.com',
      requestsPerMinute: 9,
      keys: { ID: 'key of ID', MY: 'key of MY' },
    }
    expect(operatorPlace(deployment)).toMatchObject({ rpcUrl: 'https://one.example.com', provider })
    expect(otherPlaces(deployment)).toEqual({
      bus: { url: env.NATS_URL, password: 'the admin' },
      provider,
    })
  })
})

test.each([
  [['--since', 'soon'], '--since must be the time of the backup'],
  [['--since', '2026-11-01', '--erased', 'nonsense'], 'nonsense is not <wallet>@<time>'],
  [['--sinze', '2026-11-01'], "Unknown option '--sinze'"],
])('a restore refuses the arguments %p', (args, fault) => {
  expect(() => askedBy(args)).toThrow(fault)
})
