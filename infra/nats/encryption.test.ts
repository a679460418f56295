import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect as dialPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { type Child, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { planNats } from '#infra/local/nats'
import { waitUntil } from '#infra/local/wait'
import { type NatsUser, natsUsers } from '#infra/nats/server-environment'
import { makeAuthority } from '#test/support/engines/certificates'
import { freePort, onFreePorts } from '#test/support/engines/free-ports'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { startScratchServer } from '#test/support/scratch-server'

const dir = mkdtempSync(join(tmpdir(), 'encryption-'))
const authority = makeAuthority()
const file = (name: string, content: string) => {
  writeFileSync(join(dir, name), content)
  return join(dir, name)
}
const own = file('own.pem', authority.certificate)
const another = file('another.pem', makeAuthority().certificate)
const passwords = Object.fromEntries(natsUsers.map((user) => [user, `of-${user}`])) as Record<NatsUser, string>
let nats: { child: Child; port: number; routePort: number }
let database: ScratchPostgres

async function startNode(): Promise<typeof nats> {
  const [port, monitorPort, routePort] = [await freePort(), await freePort(), await freePort()]
  const { certificate, key } = authority.issue({ ip: '127.0.0.1' })
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const cluster = { name: 'nats-0', port: routePort, ports: [routePort], password: 'of-routes' }
  const command = planNats({ dir, port, monitorPort, passwords, cluster })
  const files = {
    NATS_TLS_CERT: `"${file('nats.pem', certificate)}"`,
    NATS_TLS_KEY: `"${file('nats.key', key)}"`,
    NATS_TLS_CA: `"${own}"`,
  }
  const child = startChild({ ...command, env: { ...command.env, ...files } })
  const monitor = `http://127.0.0.1:${monitorPort}/varz`
  await waitUntil('nats-server', async () => (await fetch(monitor)).ok)
  return { child, port, routePort }
}

async function encrypt({ adminUrl }: ScratchPostgres): Promise<void> {
  const sql = postgres(adminUrl, { max: 1 })
  const [row] = await sql<[{ home: string }]>`select current_setting('data_directory') as home`
  const { uid, gid } = statSync(row.home)
  const { certificate, key } = authority.issue({ ip: '127.0.0.1' })
  for (const [name, content] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
    writeFileSync(join(row.home, name), content, { mode: 0o600 })
    chownSync(join(row.home, name), uid, gid)
  }
  await sql`alter system set ssl = on`
  await sql`select pg_reload_conf()`
  await sql.end()
}

beforeAll(async () => {
  ;[nats, database] = await Promise.all([
    onFreePorts(startNode),
    startScratchPostgres('empty').then(async (made) => {
      await encrypt(made)
      return made
    }),
  ])
})
afterAll(async () => {
  await nats?.child.end()
  await database?.[Symbol.asyncDispose]()
  rmSync(dir, { recursive: true, force: true })
})

const bus = (host = '127.0.0.1') => `tls://${host}:${nats.port}`
const rows = (host = '127.0.0.1') => `${database.adminUrl.replace('127.0.0.1', host)}?sslmode=verify-full`

async function dial(authorityFile: string, at: { rows?: string; bus?: string }): Promise<string> {
  const program = join(repositoryDir, 'test/support/engines/dial.ts')
  const { PATH = '', HOME = '/' } = process.env
  const child = Bun.spawn([process.execPath, program, at.rows ?? rows(), at.bus ?? bus(), passwords.admin], {
    env: { PATH, HOME, NODE_EXTRA_CA_CERTS: authorityFile },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  })
  let said = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    said += decoder.decode(bytes)
    if (/(?:NATS connected|nats unavailable)"\}\n/.test(said)) break
  }
  child.kill('SIGKILL')
  await child.exited
  return said
}

const unknownAuthority = 'unable to verify the first certificate'
const otherName = "Hostname/IP does not match certificate's altnames"

describe('security: a service reaches NATS and Postgres over TLS', () => {
  test('security: a service connects to servers with certificates of its authority', async () => {
    const said = await dial(own, {})
    expect(said).toContain('Postgres connected, encrypted: true')
    expect(said).toContain('NATS connected')
  })

  test('security: a service refuses servers with certificates of another authority', async () => {
    const said = await dial(another, {})
    expect(said).toContain(`Postgres refused: ${unknownAuthority}`)
    expect(said).toContain(`"reason":"${unknownAuthority}","msg":"nats unavailable"`)
  })

  test('security: a service refuses servers with certificates for another name', async () => {
    const said = await dial(own, { rows: rows('localhost'), bus: bus('localhost') })
    expect(said).toContain(`Postgres refused: ${otherName}`)
    expect(said).toMatch(new RegExp(`"reason":"${otherName}.*"msg":"nats unavailable"`))
  })

  test('security: a service refuses servers without TLS', async () => {
    await using plainBus = await startScratchServer()
    await using plainRows = await startScratchPostgres('empty')
    const said = await dial(own, {
      bus: plainBus.url.replace('nats:', 'tls:'),
      rows: `${plainRows.adminUrl}?sslmode=verify-full`,
    })
    expect(said).toMatch(/Postgres refused: .*before secure TLS connection was established/)
    expect(said).toContain('"reason":"tls","msg":"nats unavailable"')
  })

  test.each([
    ['client', 'port', { user: 'admin', pass: passwords.admin, verbose: true }],
    ['node', 'routePort', { user: 'route', pass: 'of-routes', name: 'nats-9', cluster: 'ausd' }],
  ] as const)('a cluster refuses a %s without TLS that has the password', async (_, at, sent) => {
    const heard = await new Promise<string>((resolve) => {
      const parts: string[] = []
      const socket = dialPlain(nats[at], '127.0.0.1', () => socket.write(`CONNECT ${JSON.stringify(sent)}\r\nPING\r\n`))
      socket.on('data', (bytes) => void parts.push(String(bytes)))
      socket.on('close', () => resolve(parts.join('')))
    })
    expect(heard).not.toContain('PONG')
    expect(heard).not.toContain('+OK')
  })
})
