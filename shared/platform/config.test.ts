import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localVariables } from '#infra/compose/composition'
import { devKey } from '#infra/local/keys'
import { readConfig, secretsOf } from '#platform/config'
import {
  databaseUrl,
  durationMs,
  genesisHash,
  natsServers,
  networksOrNone,
  oneOf,
  privateKey,
  text,
  url,
} from '#platform/config-fields'
import { databaseUrlOf } from '#platform/db/url'
import { isPublicSecret } from '#platform/public-secrets'

const fields = {
  DATABASE_URL: url({ about: 'where the rows are' }),
  RECHECK_AFTER_MS: durationMs({ about: 'quiet for so long', fallback: '30000' }),
  LOG_LEVEL: oneOf(['info', 'debug'], { about: 'how much is said', fallback: 'info' }),
  LANE_KEY: privateKey({ about: 'signs' }),
}
const good = { DATABASE_URL: 'postgres://h/d', LANE_KEY: `0x${'1'.repeat(64)}` }

const dir = mkdtempSync(join(tmpdir(), 'config-'))
afterAll(() => rmSync(dir, { recursive: true }))

describe('configuration', () => {
  test('is read as a whole, with defaults for unset variables', () => {
    expect(readConfig('payments', fields, good)).toEqual({
      databaseUrl: 'postgres://h/d',
      recheckAfterMs: 30_000,
      logLevel: 'info',
      laneKey: `0x${'1'.repeat(64)}`,
    })
  })

  test('fails early, with every error in one message and without values', () => {
    const bad = { RECHECK_AFTER_MS: '-5', LOG_LEVEL: 'loud', LANE_KEY: '0xnotakey' }
    const read = () => readConfig('payments', fields, bad)
    expect(read).toThrow(/DATABASE_URL is not set/)
    expect(read).toThrow(/RECHECK_AFTER_MS must be a whole number/)
    expect(read).toThrow(/LOG_LEVEL must be one of info, debug/)
    expect(read).toThrow(/LANE_KEY must be a private key/)
    expect(read).not.toThrow(/notakey/)
  })

  test('takes a value from the file in NAME_FILE, and refuses both at once', () => {
    const file = join(dir, 'key')
    writeFileSync(file, `${good.LANE_KEY}\n`)
    const fromFile = { DATABASE_URL: good.DATABASE_URL, LANE_KEY_FILE: file }
    expect(readConfig('payments', fields, fromFile).laneKey).toBe(good.LANE_KEY as `0x${string}`)
    expect(() => readConfig('payments', fields, { ...fromFile, ...good })).toThrow(/LANE_KEY is set twice/)
    expect(() => readConfig('payments', fields, { ...good, LANE_KEY: '', LANE_KEY_FILE: '/nowhere' })).toThrow(
      /cannot be read/,
    )
  })

  test.each(['\n', '\r\n', ' '])('takes a value without the %p at its end, from a variable as from a file', (end) => {
    const file = join(dir, 'ending')
    writeFileSync(file, `a key${end}`)
    const key = { KEY: text({ about: 'a', secret: true }) }
    for (const env of [{ KEY: `a key${end}` }, { KEY_FILE: file }]) {
      expect(readConfig('x', key, env)).toEqual({ key: 'a key' })
      expect(secretsOf(key, env)).toEqual(['a key'])
    }
  })

  test.each([
    ['a password of the local stack', 'postgres://payments:local-only-payments@postgres:5432/postgres'],
    ['a token of it', 'sbx:local-only'],
    ['one of its keys among others', `0x${'1'.repeat(64)}, ${devKey('lane 1').toUpperCase()}`],
    ['its key that opens account numbers', localVariables().BANK_DETAILS_KEYS!],
  ])('security: refuses %s, unless the configuration states that the stack is unreachable', (_, SECRET) => {
    const secret = { SECRET: text({ about: 'a', secret: true }) }
    expect(() => readConfig('x', secret, { SECRET })).toThrow(/SECRET is public/)
    expect(() => readConfig('x', secret, { SECRET })).not.toThrow(SECRET)
    expect(readConfig('x', secret, { SECRET, PUBLIC_SECRETS: 'allowed' })).toEqual({
      secret: SECRET,
    })
  })

  test('security: every secret of the local composition is known to be public', () => {
    const secrets = Object.entries(localVariables()).filter(([name]) => /PASSWORD|TOKEN|SECRET|_KEYS?$/.test(name))
    expect(secrets.filter(([, value]) => !isPublicSecret(value!))).toEqual([])
    expect(secrets.length).toBeGreaterThan(20)
  })

  test('security: treats an empty variable and an empty file as unset', () => {
    const file = join(dir, 'empty')
    writeFileSync(file, '\n')
    const token = { TOKEN: text({ about: 'checks webhooks', secret: true }) }
    for (const env of [{ TOKEN: '' }, { TOKEN_FILE: file }])
      expect(() => readConfig('x', token, env)).toThrow(/TOKEN is not set/)
  })

  test('security: refuses an empty GENESIS_HASH, also in a file, because its fallback switches a check off', () => {
    const file = join(dir, 'empty-hash')
    writeFileSync(file, '\n')
    for (const env of [{ GENESIS_HASH: '' }, { GENESIS_HASH: ' ' }, { GENESIS_HASH_FILE: file }])
      expect(() => readConfig('x', { GENESIS_HASH: genesisHash }, env)).toThrow(/GENESIS_HASH is empty/)
    expect(readConfig('x', { GENESIS_HASH: genesisHash }, {})).toEqual({ genesisHash: 'unchecked' })
  })

  test.each([
    ['tls://a:4222,tls://b:4222', undefined],
    ['nats://127.0.0.1:4222', undefined],
    ['nats://localhost:4222,nats://[::1]:4222', undefined],
    ['nats://a:4222', 'a'],
    ['nats://a:4222,nats://b:4223', 'postgres, a,b'],
    ['nats://a:4222', '*'],
  ])('reads %s as the address of nats-server, with the unencrypted hosts %s', (BUS, hosts) => {
    const fields = { BUS: natsServers({ about: 'the bus' }) }
    expect(readConfig('x', fields, { BUS, UNENCRYPTED_HOSTS: hosts })).toEqual({ bus: BUS })
  })
  test.each([
    ['nats://a:4222', undefined],
    ['nats://a:4222', ''],
    ['nats://a:4222', 'b,aa'],
    ['tls://a:4222,nats://b:4222', 'a'],
    ['nats://127.0.0.1.example.org:4222', undefined],
    ['nats://10.0.0.1:4222', undefined],
  ])('security: refuses %s without TLS, with the unencrypted hosts %s', (BUS, hosts) => {
    const fields = { BUS: natsServers({ about: 'the bus' }) }
    const read = () => readConfig('x', fields, { BUS, UNENCRYPTED_HOSTS: hosts })
    expect(read).toThrow(/BUS must be tls:/)
  })
  test.each(['a:4222', 'http://a:4222', 'nats://a:4222,', 'nats://a:4222,b:4222', 'nats://a:x'])(
    'refuses %s as the address of nats-server',
    (BUS) => {
      const fields = { BUS: natsServers({ about: 'the bus' }) }
      expect(() => readConfig('x', fields, { BUS })).toThrow(/BUS must be nats:/)
    },
  )

  test.each([
    ['none', []],
    ['10.0.0.1, fd00::/8', ['10.0.0.1', 'fd00::/8']],
  ])('reads %s as networks', (NETS, nets) => {
    expect(readConfig('x', { NETS: networksOrNone({ about: 'a' }) }, { NETS })).toEqual({ nets })
  })
  test.each(['proxy', '10.0.0.1/33', '10.0.0.1/8/8', '0.0.0.0/0'])('refuses %s as networks', (NETS) => {
    const read = () => readConfig('x', { NETS: networksOrNone({ about: 'a' }) }, { NETS })
    expect(read).toThrow(/NETS must be IP addresses/)
  })
})

describe('the Postgres URL', () => {
  const told = { DATABASE_URL: databaseUrl({ about: 'where the rows are' }) }
  const readAs = (value: string, UNENCRYPTED_HOSTS = 'a,b,postgres') =>
    readConfig('payments', told, { DATABASE_URL: value, UNENCRYPTED_HOSTS }).databaseUrl

  test.each([
    'postgres://payments@postgres:5432/postgres',
    'postgres://payments:p%40ss@[::1]:5432/postgres?sslmode=require',
    'postgres://payments@a:5432,b:5433/postgres?target_session_attrs=read-write',
    'postgres://payments@a,b/postgres?sslmode=require&target_session_attrs=read-write',
  ])('%s is accepted unchanged', (value) => {
    expect(readAs(value)).toBe(value)
  })

  test.each([
    ['nats://a:4222', /must be postgres:/],
    ['postgres://', /must be postgres:/],
    ['postgres://payments@a:port/postgres', /must be postgres:/],
    ['postgres://payments@a,/postgres?target_session_attrs=read-write', /must be postgres:/],
    ['postgres://payments@a,b/postgres', /must end with \?target_session_attrs=read-write/],
    ['postgres://payments@a,b/postgres?target_session_attrs=any', /must end with/],
  ])('%s is refused', (value, why) => {
    expect(() => readAs(value)).toThrow(why)
  })

  test.each([
    'postgres://payments@a/postgres?sslmode=verify-full',
    'postgres://payments@a,b/postgres?sslmode=verify-full&target_session_attrs=read-write',
    'postgres://payments@127.0.0.1:5432/postgres',
    'postgres://payments@localhost/postgres',
  ])('%s is accepted without unencrypted hosts', (value) => {
    expect(readAs(value, '')).toBe(value)
  })

  test.each([
    'postgres://payments@a/postgres',
    'postgres://payments@a/postgres?sslmode=require',
    'postgres://payments@a/postgres?sslmode=verify-fuller',
    'postgres://payments@a/postgres?application_name=sslmode=verify-full',
    'postgres://payments@127.0.0.1,a/postgres?target_session_attrs=read-write',
    'postgres://a@127.0.0.1.example.org/postgres',
  ])('security: %s is refused without TLS', (value) => {
    expect(() => readAs(value, '')).toThrow(/must have sslmode=verify-full/)
  })

  test.each([
    ['postgres://payments@a/postgres', 'postgres://payments:p%40ss@a/postgres'],
    ['postgres://payments:old@a/postgres', 'postgres://payments:p%40ss@a/postgres'],
    ['postgres://payments@a:1,b:2/postgres?x=y', 'postgres://payments:p%40ss@a:1,b:2/postgres?x=y'],
  ])('the separate password is put into %s', (url, whole) => {
    expect(databaseUrlOf({ databaseUrl: url, databasePassword: 'p@ss' })).toBe(whole)
  })
})

test('the hash of block 0 may be in upper case, and nothing else than a hash or "unchecked"', () => {
  const upper = `0x${'AB'.repeat(32)}`
  expect(genesisHash.parse(upper)).toBe(upper.toLowerCase() as `0x${string}`)
  expect(genesisHash.parse('unchecked')).toBe('unchecked')
  expect(() => genesisHash.parse('none')).toThrow('must be a 32-byte hash')
})
