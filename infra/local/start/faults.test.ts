import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { faultOfServer } from '#infra/local/postgres'
import { assertOwnUrls, placeOf, takenOver } from '#infra/local/start/own'
import { waitUntil } from '#infra/local/wait'
import { runnerOf, triedBun } from './command'
import { adviceOn, assertPrograms, failureText, StartFault, usableDir } from './faults'
import { adviceOnInstall, isOlderBun, lockInstallation, mayPass } from './install'
import { openProgress } from './progress'

const dir = mkdtempSync(join(tmpdir(), 'faults-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const faultOf = (act: () => unknown): StartFault => {
  try {
    act()
  } catch (error) {
    if (error instanceof StartFault) return error
    throw error
  }
  throw new Error('there was no fault')
}

describe('the folder of a stack', () => {
  test('the folder is the default one, or the one in LOCAL_DIR', () => {
    expect(usableDir(undefined, join(dir, 'usual'))).toBe(join(dir, 'usual'))
    expect(usableDir(join(dir, 'named'), '/nowhere')).toBe(join(dir, 'named'))
  })

  test('LOCAL_DIR may be relative to the working directory', () => {
    expect(usableDir(relative(process.cwd(), join(dir, 'relative')), '/nowhere')).toBe(join(dir, 'relative'))
  })

  test('LOCAL_DIR cannot be a file, below a file, or not writable', () => {
    const file = join(dir, 'file')
    writeFileSync(file, '')
    expect(faultOf(() => usableDir(file, dir)).message).toContain('is a file, not a folder')
    expect(faultOf(() => usableDir(join(file, 'below'), dir)).message).toContain(
      'cannot be created or written (ENOTDIR)',
    )
    expect(faultOf(() => usableDir('/proc/nowhere', dir)).advice).toContain('LOCAL_DIR=')
  })

  test('a start needs free disk space', () => {
    mkdirSync(join(dir, 'full'))
    const { message } = faultOf(() => usableDir(join(dir, 'full'), dir, Number.MAX_SAFE_INTEGER))
    expect(message).toMatch(/not enough disk space in .*: \d+ MB free/)
  })
})

test.each([
  ['initdb failed (exit 1): could not write: No space left on device', 'free some space'],
  ["'Authorization Violation'", 'infra/nats/nats-server.conf'],
  ['no space left on device', `or of ${tmpdir()}`],
  ['the nats-server at NATS_URL has no JetStream', 'infra/nats/nats-server.conf'],
  ['password authentication failed for user "me"', 'wrong user, password or database'],
  ['role "me" is not permitted to log in', 'wrong user, password or database'],
  ['no pg_hba.conf entry for host "10.0.0.2"', 'pg_hba.conf'],
  ['permission denied to create role', 'allowed to create roles and schemas'],
  ['permission denied for database postgres', 'allowed to create roles and schemas'],
  ["initdb failed (EACCES: permission denied, posix_spawn '/tmp/programs/bin/initdb')", 'TMPDIR='],
  ['timed out after 30000 ms waiting for Postgres to respond', `${dir}/logs`],
  ['postgres found its port taken by another process', 'keeps taking the chosen ports'],
])('a start that fails with "%s" prints the fix', (message, advice) => {
  expect(adviceOn(new Error(message), dir)).toContain(advice)
})

test('all missing programs are named together, each with its alternative', () => {
  const one = (name: string, isThere: boolean) => ({ name, isThere, insteadOf: `${name}_URL` })
  assertPrograms([one('postgres', true)])
  const { message, advice } = faultOf(() =>
    assertPrograms([one('a', false), one('b', true), one('c', false)], 'darwin-arm64'),
  )
  expect(message).toContain('no npm package has a, c for darwin-arm64')
  expect(advice).toContain('set a_URL, c_URL')
})

test('missing program packages lead to the advice to install', () => {
  const missing = { name: 'anvil', isThere: false, insteadOf: 'RPC_URL' }
  const { message, advice } = faultOf(() => assertPrograms([missing], 'linux-x64'))
  expect(message).toBe('the packages with anvil are not installed')
  expect(advice).toContain('`bun install`')
})

test('advice names no log file that does not exist', () => {
  expect(adviceOn(new Error('whatever'), join(dir, 'nowhere'))).toBeUndefined()
  mkdirSync(join(dir, 'with/logs'), { recursive: true })
  expect(adviceOn(new Error('whatever'), join(dir, 'with'))).toContain('with/logs')
})

describe('PostgreSQL server', () => {
  test.each([
    [18, false, undefined],
    [19, false, undefined],
    [15, false, 'found PostgreSQL 15, but 18 is required'],
    [18, true, 'the database at DATABASE_URL is read-only'],
  ])('a Postgres of version %p, read-only %p, is reported as %p', (major, isReadOnly, message) => {
    expect(faultOfServer({ major, isReadOnly })?.message).toBe(message as string)
  })
})

describe('URLs given by the user', () => {
  test.each([
    ['DATABASE_URL', 'hello'],
    ['NATS_URL', 'hello'],
    ['RPC_URL', 'hello'],
    ['RPC_URL', 'localhost:8545'],
  ])('an invalid URL is reported without its value: %s=%s', (name, value) => {
    const { message, advice } = faultOf(() => assertOwnUrls({ [name]: value }))
    expect(message).toStartWith(`${name} must be`)
    expect(message).not.toContain(value)
    expect(advice).toContain(`leave ${name} unset`)
  })

  test.each([
    ['postgres://me:word@10.0.0.1:5432/name', '10.0.0.1:5432'],
    ['nats://a:4222,nats://me:word@b:4222', 'a:4222,b:4222'],
    ['https://node.example/v2/key', 'node.example'],
  ])('a URL is printed without user and password: %s', (url, place) => {
    expect(placeOf(url)).toBe(place)
  })
})

test('a start prints what it takes from the environment: places of servers, otherwise only names', () => {
  const env = {
    PATH: '/bin',
    PORT: '3000',
    RPC_URL: '',
    DATABASE_URL: 'postgres://me:word@10.0.0.1:5432/shop',
    LOG_LEVEL: 'debug',
    TOPUP_FEES: 'IDR:qr=0+70',
    POSTGRES_PASSWORD: 'word',
    NATS_PASSWORD_ADMIN: 'word',
    NATS_PASSWORD_OPS: 'word',
  }
  const taken = 'DATABASE_URL (10.0.0.1:5432), LOG_LEVEL, TOPUP_FEES, NATS_PASSWORD_*, POSTGRES_PASSWORD'
  expect(takenOver(env)).toBe(taken)
  expect(takenOver({ PATH: '/bin' })).toBe('')
})

describe('installation', () => {
  test.each([
    ['1.4.4', true],
    ['1.3.99', true],
    ['0.9.9', true],
    [triedBun, false],
    ['1.4.6-canary.1', false],
    ['1.10.0', false],
    ['2.0.0', false],
  ])('Bun %s is older than required: %p', (version, older) => {
    expect(isOlderBun(version)).toBe(older)
  })

  test('the required Bun is the one whose types are installed and that npm installs', async () => {
    const root = join(import.meta.dir, '../../..')
    const { devDependencies } = await Bun.file(join(root, 'package.json')).json()
    expect(devDependencies['bun-types']).toBe(triedBun)
    expect(await Bun.file(join(root, 'infra/run.sh')).text()).toContain(`\nversion=${triedBun}\n`)
  })

  test.each([
    ['/home/me/.bun/bin/bun', true, 'bun run'],
    ['/opt/bun/bin/bun', false, '/opt/bun/bin/bun run'],
    ['/home/me/code/node_modules/.bun-1.4.5/node_modules/bun/bin/bun.exe', true, 'npx bun run'],
    ['/home/me/.npm/_npx/8666902f26f2dc1a/node_modules/bun/bin/bun.exe', true, `npx -y bun@${triedBun} run`],
  ])('a user of %s, on the PATH: %p, is told to write "%s"', (path, isOnPath, command) => {
    expect(runnerOf(path, isOnPath)).toBe(command)
  })

  test.each([
    ['error: ConnectionRefused downloading tarball nats@2.29.3', 'https://mine does not respond'],
    ['error: DNSResolveFailed downloading tarball ox@0.14.45', 'https://mine does not respond'],
    ['error: GET https://mine/nats - 404', 'https://mine denied a package'],
    ['ENOSPC: No space left on device', 'The disk is full'],
    ['error: lockfile had changes, but lockfile is frozen', 'bun.lock does not match'],
    ['EACCES: Permission denied while installing', 'cannot be written'],
    ['EEXIST: failed copying files from cache for package viem', 'Remove node_modules'],
    ['Resolving dependencies\nResolved, downloaded and extracted [1]\nerror: ENOENT: viem', 'Remove node_modules'],
  ])('an installation that fails with "%s" prints the fix', (said, advice) => {
    expect(adviceOnInstall(said, 'https://mine')).toContain(advice)
  })
})

test.each([
  ['error: ConnectionRefused downloading package manifest viem', true],
  ['error: EEXIST: failed copying files from cache for package viem', true],
  ['error: lockfile had changes, but lockfile is frozen', false],
  ['ENOSPC: No space left on device', false],
])('whether an installation that fails with "%s" is tried again: %p', (said, isTried) => {
  expect(mayPass(said)).toBe(isTried)
})

test('an installation waits for another one in the same checkout', async () => {
  const root = mkdtempSync(join(tmpdir(), 'install-'))
  try {
    const order: string[] = []
    const first = await lockInstallation(root)
    const second = lockInstallation(root).then((lock) => {
      order.push('second began')
      lock[Symbol.dispose]()
    })
    order.push('first ended')
    first[Symbol.dispose]()
    await second
    expect(order).toEqual(['first ended', 'second began'])
  } finally {
    rmSync(root, { recursive: true })
  }
})

describe('progress', () => {
  test('a step is printed with its duration after two seconds, not before', async () => {
    const lines: string[] = []
    let now = 0
    using progress = openProgress({ write: (text) => lines.push(text) }, () => now)
    await progress.during('soon over', Promise.resolve())
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const both = [progress.during('Postgres', first.promise), progress.during('NATS', second.promise)]
    now = 2_400
    await waitUntil('a line', () => lines.length > 0)
    expect(lines).toEqual(['    2 s  Postgres, NATS …\n'])
    first.resolve()
    second.resolve()
    await Promise.all(both)
  })
})

test.each(['The quote has expired.', 'The quote has expired'])(
  'the line of a failed command ends with one period: %p',
  (message) => {
    expect(failureText('Demo', new Error(message))).toBe('Demo failed: The quote has expired.')
  },
)
