import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { devAccount, devKey } from '#infra/local/keys'
import { loginRoles } from '#infra/migrations/databases'

// The output of commands ends up in tickets and job logs. In this test every endpoint refuses the key that it was given
// and repeats it, as vendors' endpoints do.

const key = 'marked-0123456789abcdef'
const refusal = `the key ${key} is not allowed`
const dir = mkdtempSync(join(tmpdir(), 'commands-'))

const http = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) =>
    new URL(request.url).pathname.startsWith('/verify/')
      ? Response.json({})
      : Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32_000, message: refusal } }),
})
const field = (kind: string, text: string) => `${kind}${text}\0`
const databaseRefusal = (() => {
  const fields = `${field('S', 'FATAL')}${field('C', '28P01')}${field('M', refusal)}\0`
  const message = Buffer.alloc(5 + fields.length)
  message.write('E')
  message.writeUInt32BE(4 + fields.length, 1)
  message.write(fields, 5)
  return message
})()
const postgres = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: { data: (socket) => void socket.end(databaseRefusal) },
})
const nats = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open: (socket) => void socket.write('INFO {"version":"2.14.0","max_payload":1024,"headers":true}\r\n'),
    data: (socket) => void socket.end(`-ERR '${refusal}'\r\n`),
  },
})
afterAll(async () => {
  await http.stop(true)
  postgres.stop(true)
  nats.stop(true)
  rmSync(dir, { recursive: true, force: true })
})

const origin = `http://127.0.0.1:${http.port}`
const rpcUrl = `${origin}/v2/${key}?apikey=${key}`
const databaseUrl = `postgres://owner:${key}@127.0.0.1:${postgres.port}/none`
const wallet = devAccount('treasury').address
const chain = { RPC_URL: rpcUrl, AUSD_ADDRESS: wallet, CREDIT_LINE_ADDRESS: wallet }
const operator = { ...chain, TREASURY_ADDRESS: wallet, DEPLOY_BLOCK: '0' }
const bus = { NATS_URL: `nats://127.0.0.1:${nats.port}`, NATS_PASSWORD: key }

type Command = readonly [path: string, args: readonly string[], env: Record<string, string>]
const commands: readonly Command[] = [
  [
    'infra/deploy/main.ts',
    ['--dry-run'],
    {
      DEPLOYMENT: 'local',
      RPC_URLS: rpcUrl,
      ADMIN_KEY: devKey('admin'),
      TREASURY_KEY: devKey('treasury'),
      LANE_KEYS: devKey('lane 0'),
      FINAL_WITHIN_MS: '100',
      PUBLIC_SECRETS: 'allowed',
      ADDRESSES_FILE: join(dir, 'addresses.json'),
    },
  ],
  ['infra/operations/record/verify-record.ts', [wallet, '--rpc', rpcUrl, '--credit-line', wallet], {}],
  ['infra/operations/cli/main.ts', ['books'], { DATABASE_OPS_URL: databaseUrl }],
  ['infra/operations/cli/main.ts', ['reconcile'], { ...operator, DATABASE_OPS_URL: databaseUrl }],
  [
    'infra/operations/restore/main.ts',
    ['--since', '2026-11-01'],
    { ...operator, ...bus, NATS_PASSWORD_ADMIN: key, DATABASE_ADMIN_URL: databaseUrl },
  ],
  ['infra/operations/cli/main.ts', ['wallets', 'list'], { DATABASE_OPS_URL: databaseUrl }],
  ['infra/operations/cli/main.ts', ['in-flight'], { DATABASE_OPS_URL: `postgres://owner:${key}@[none/none` }],
  [
    'infra/operations/cli/main.ts',
    ['pause', 'payouts', '--reason', 'ticket 7'],
    { DATABASE_OPS_URL: databaseUrl, ...bus, NATS_PASSWORD_OPS: key },
  ],
  [
    'infra/migrations/migrate.ts',
    [],
    {
      DATABASE_ADMIN_URL: databaseUrl,
      ...Object.fromEntries(loginRoles.map((role) => [`DATABASE_PASSWORD_${role.toUpperCase()}`, 'none-of-these'])),
    },
  ],
  ['infra/nats/provision.ts', [], { ...bus, NATS_PASSWORD_ADMIN: key }],
  [
    'services/indexer-reader/rebuild.ts',
    [],
    {
      DATABASE_URL: databaseUrl,
      CHAIN_ID: '10143',
      DEPLOY_BLOCK: '0',
      CREDIT_LINE_ADDRESS: wallet,
    },
  ],
]

describe('an operator command that was given a key by mistake', () => {
  // The programs run one after another, because eleven at once are too slow on a busy machine.
  test.each(commands)('%s fails with a reason and does not print the key', async (path, args, env) => {
    const child = Bun.spawn([process.execPath, path, ...args], {
      cwd: repositoryDir,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: 120_000,
    })
    const printed = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
    expect(printed.join('\n')).not.toContain(key)
    expect(printed.join('\n')).not.toMatch(/^\d+ \|/m) // The runtime would print lines of code and fields.
    expect(printed.join('\n').trim()).not.toBe('')
    // The exit code is 2 if the configuration is refused, and 3 if a record cannot be checked.
    expect([1, 2, 3]).toContain(await child.exited)
  })
})
