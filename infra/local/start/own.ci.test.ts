import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgresClient from 'postgres'
import { createTestClient, http, publicActions } from 'viem'
import { chainAnswers } from '#infra/local/chain'
import { startChild } from '#infra/local/child'
import { planNats } from '#infra/local/nats'
import { freePort } from '#infra/local/ports'
import { claimDatabase, planPostgres } from '#infra/local/postgres'
import { openProcesses } from '#infra/local/processes'
import { bootStack } from '#infra/local/stack'
import { untilOwnAnswers } from '#infra/local/start/own'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { multicall3 } from '#shared/chain/client'
import { startAnvil } from '#test/support/engines/anvil'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { startScratchServer } from '#test/support/scratch-server'
import { ownStack } from '#test/support/stack'

const dir = mkdtempSync(join(tmpdir(), 'own-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('creating a Postgres cluster does not wait for nats-server, which takes two seconds to refuse a sign-in', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  const { home } = await planPostgres({ dir, port: 1, password: 'word', durable: false })
  clearInterval(timer)
  rmSync(home, { recursive: true, force: true })
  expect(turns).toBeGreaterThan(10)
})

test("a stack runs on the user's own Postgres and NATS", async () => {
  await using nats = await startScratchServer()
  await using postgres = await startScratchPostgres('empty')
  const passwords = natsUsers.map((user) => [passwordVariable(user), nats.passwords[user]])
  const own = { NATS_URL: nats.url, DATABASE_URL: postgres.adminUrl }
  await using stack = await ownStack({ own: { ...own, ...Object.fromEntries(passwords) } })
  expect(stack.info.nats.url).toBe(nats.url)
  expect(stack.adminUrl).toBe(postgres.adminUrl)
  expect(() => stack.process('postgres')).toThrow('does not run')
  expect((await fetch(`${stack.info.gateway}/ready`)).status).toBe(200)
})

/** Ports on which this process listens. */
function listening(): string[] {
  const sockets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return '' // Closed since.
    }
  })
  const own = new Set(sockets)
  return readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(`socket:[${inode}]`))
    .map(([, local]) => local!)
    .sort()
}

test('a start that fails closes the listeners of the controls and the RPC proxy', async () => {
  const before = listening()
  const codeDir = () => {
    throw new Error('no code here')
  }
  await expect(ownStack({ controls: true, proxied: true, codeDir })).rejects.toThrow('no code here')
  expect(listening()).toEqual(before)
})

const openSql = (url: string) => {
  const sql = postgresClient(url, { max: 1, onnotice: () => {} })
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) })
}

const refusedWith = (own: Record<string, string>) =>
  bootStack({ dir, ports: 'free', durable: false, own }).then(
    () => 'it started',
    (error: Error) => `${error.name}: ${error.message}`,
  )

test('an own chain with another id is refused before anything is changed on it', async () => {
  await using node = await startAnvil()
  const client = createTestClient({ mode: 'anvil', transport: http(node.rpcUrl) })
  await client.request({ method: 'anvil_setChainId', params: [31_337] } as never)
  const said = await refusedWith({ RPC_URL: node.rpcUrl })
  expect(said).toBe('StartFault: the chain at RPC_URL has id 31337, but 10143 is required')
  const code = await client.extend(publicActions).getCode({ address: multicall3 })
  expect(code).toBeUndefined()
})

test('a wrong server is reported with the variable and the address', async () => {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
  const place = `127.0.0.1:${server.port}`
  const processes = openProcesses({ onDeath: () => {}, onStart: () => {} })
  const rpcUrl = `http://${place}`
  const asked = () => chainAnswers(rpcUrl)
  const waited = untilOwnAnswers(processes, 'RPC_URL', rpcUrl, asked, 100)
  await expect(waited).rejects.toThrow(
    `no node responds at RPC_URL (${place}): unexpected response; this does not look like an Ethereum node (HTTP 200)`,
  )
})

test('a nats-server without JetStream is refused at once', async () => {
  const port = await freePort()
  const logFile = join(dir, 'plain.log')
  const { bin } = planNats({ dir, port, monitorPort: 0, passwords: {} as never })
  const args = ['--addr', '127.0.0.1', '--port', String(port)]
  const plain = startChild({ name: 'nats-server', bin, args, env: {}, logFile })
  try {
    await waitUntil('nats-server', () => readFileSync(logFile, 'utf8').includes('Server is ready'))
    expect(await refusedWith({ NATS_URL: `nats://127.0.0.1:${port}` })).toBe(
      'Hopeless: the nats-server at NATS_URL has no JetStream',
    )
  } finally {
    await plain.end()
  }
})

test('a read-only database is refused', async () => {
  await using postgres = await startScratchPostgres('empty')
  const DATABASE_URL = `${postgres.adminUrl}?default_transaction_read_only=on`
  const said = await refusedWith({ DATABASE_URL })
  expect(said).toBe('StartFault: the database at DATABASE_URL is read-only')
})

test('a database with tables of another program is refused, and gets no role and no schema', async () => {
  await using postgres = await startScratchPostgres('empty')
  await using sql = openSql(postgres.adminUrl)
  await sql`create table orders (id int)`
  const said = await refusedWith({ DATABASE_URL: postgres.adminUrl })
  expect(said).toBe(
    'StartFault: the database postgres at DATABASE_URL has tables that are not of the local stack ' +
      `in ${dir}, such as public.orders`,
  )
  const [found] = await sql`
    select (select count(*)::int from pg_roles where rolname = 'gateway') as roles,
      to_regnamespace('gateway') is not null as schemas`
  expect(found).toEqual({ roles: 0, schemas: false })
})

test("a deployment's database is refused, and its roles keep their passwords", async () => {
  await using postgres = await startScratchPostgres()
  expect(await refusedWith({ DATABASE_URL: postgres.adminUrl })).toContain('that are not of the local stack')
  await using asGateway = openSql(postgres.urlAs('gateway', postgres.passwords.gateway))
  expect(await asGateway`select 1 as one`).toEqual([{ one: 1 }] as never)
})

test("a start on an own Postgres discards the last run's tables unless it continues with them", async () => {
  await using postgres = await startScratchPostgres('empty')
  await using sql = openSql(postgres.adminUrl)
  const hasTable = async () => (await sql`select to_regclass('payments.payments') is not null as found`)[0]!.found
  const stackDir = mkdtempSync(join(dir, 'own-stack-'))
  await sql`create extension pg_stat_statements` // Its views are of no other program.
  await claimDatabase(postgres.adminUrl, stackDir, false)
  await sql`create schema payments`
  await sql`create table payments.payments (id int)`
  await claimDatabase(postgres.adminUrl, stackDir, true)
  expect(await hasTable()).toBe(true)
  await expect(claimDatabase(postgres.adminUrl, dir, false)).rejects.toThrow('such as payments.payments')
  await claimDatabase(postgres.adminUrl, stackDir, false)
  expect(await hasTable()).toBe(false)
})

test('a stack whose service refuses a variable of the environment fails at once, and names it', async () => {
  const startedAt = Date.now()
  const said = await refusedWith({ LOG_LEVEL: 'verbose' })
  expect(said).toMatch(/^StartFault: [a-z-]+ refuses its configuration: LOG_LEVEL must be one of debug, info/)
  expect(Date.now() - startedAt).toBeLessThan(patienceMs / 2) // Services are waited for for `patienceMs`.
})

test('a server that refuses our password is reported differently from one that is down', async () => {
  await using postgres = await startScratchPostgres('empty')
  const boot = (DATABASE_URL: string) => bootStack({ dir, ports: 'free', durable: false, own: { DATABASE_URL } })
  const stranger = postgres.urlAs('stranger', 'word')
  await expect(boot(stranger)).rejects.toThrow('password authentication failed')
})
