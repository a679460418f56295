import { afterAll, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blockOf } from './runbook-text'

const home = mkdtempSync(join(tmpdir(), 'operator-shell-'))
afterAll(() => rmSync(home, { recursive: true }))

const [infra, bin, secrets, calls] = ['infra', 'bin', 'infra/secrets', 'calls'].map((name) => join(home, name)) as [
  string,
  string,
  string,
  string,
]
const password = { POSTGRES_PASSWORD: 'owner0f0f', NATS_PASSWORD_ADMIN: 'admin0f0f' }
const settings = { STACK: 'testnet', OPERATORS: 'alice:0x1', EVENTS_URL: 'https://events.example.org/?a=1&b=(2)' }

const envFile = (variables: Readonly<Record<string, string>>) =>
  writeFileSync(
    join(infra, 'testnet.env'),
    `# NATS_PASSWORD_ADMIN=none\n${Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('')}`,
  )

/** A stand-in for docker, which notes the words and the variables of each call. A backup and a list fail with FAIL. */
const docker = `#!/bin/sh
{ echo "words: $*"; env; } > "${calls}/$(ls "${calls}" | wc -l)"
case "$*" in
  *pg_basebackup*) echo 'a part of a backup'; exit "$FAIL" ;;
  *erased*) [ "$FAIL" = 0 ] && echo 'the new list'; exit "$FAIL" ;;
esac
`

beforeEach(() => {
  rmSync(home, { recursive: true })
  for (const dir of [secrets, bin, calls]) mkdirSync(dir, { recursive: true })
  writeFileSync(join(bin, 'docker'), docker)
  chmodSync(join(bin, 'docker'), 0o755)
})

/** Runs lines in a shell of an operator, after the functions of the runbook. Returns the calls of docker. */
async function ran(lines: string, { files = false, fail = 0 } = {}) {
  const functions = [blockOf('functions'), ...(files ? [blockOf('secretFiles')] : []), blockOf('operator')].join('\n')
  const shell = Bun.spawn(['sh', '-c', `${functions}\n${lines}`], {
    cwd: infra,
    env: { PATH: `${bin}:${process.env.PATH}`, FAIL: String(fail) },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const code = await shell.exited
  const made = readdirSync(calls).sort((left, right) => Number(left) - Number(right))
  return {
    code,
    said: await new Response(shell.stderr).text(),
    calls: made.map((name) => {
      const [words = '', ...rest] = readFileSync(join(calls, name), 'utf8').split('\n')
      return { words, variables: new Map(rest.map((line) => line.split(/=(.*)/) as [string, string])) }
    }),
  }
}

test.each([false, true])(
  'security: oper gives the passwords to its command alone, by variables (in files: %p)',
  async (files) => {
    envFile(files ? { ...settings, SECRETS_DIR: './secrets' } : { ...settings, ...password })
    for (const [name, value] of Object.entries(password)) writeFileSync(join(secrets, name.toLowerCase()), `${value}\n`)
    const { calls, said, code } = await ran('cd /; oper infra/operations/cli/main.ts status; dc up -d', { files })
    expect({ said, code }).toEqual({ said: '', code: 0 })
    const [oper, up] = calls
    expect(oper?.words).toMatch(/ run --rm --no-deps .*--entrypoint bun ops infra\/operations\/cli\/main.ts status$/)
    for (const value of Object.values(password)) expect(oper?.words).not.toContain(value)
    expect(oper?.variables.get('DATABASE_ADMIN_URL')).toBe(
      `postgres://postgres:${password.POSTGRES_PASSWORD}@postgres:5432/postgres`,
    )
    expect(oper?.variables.get('NATS_PASSWORD_ADMIN')).toBe(password.NATS_PASSWORD_ADMIN)
    // Compose prefers a variable of the shell: it would hide a change of the file, or stand beside the file of a secret.
    const named = [...Object.keys(settings), ...Object.keys(password), 'DATABASE_ADMIN_URL']
    expect(named.filter((name) => up?.variables.has(name))).toEqual([])
  },
)

test('a backup that fails leaves the list of erased wallets, and no file that looks like a backup', async () => {
  envFile({ ...settings, ...password })
  await ran(blockOf('backup'))
  const list = () => readFileSync(join(infra, 'erased.txt'), 'utf8')
  const backups = () => readdirSync(infra).filter((name) => /^base-.*\.tar$/.test(name))
  expect([list(), backups().length]).toEqual(['the new list\n', 1])
  rmSync(join(infra, backups()[0]!))
  expect((await ran(blockOf('backup'), { fail: 1 })).code).not.toBe(0)
  expect([list(), backups()]).toEqual(['the new list\n', []])
  expect(existsSync(join(infra, 'erased.txt'))).toBe(true)
})

test.each([
  ['a new volume', false],
  ['a volume with a database, which stays beside it', true],
])('the files of a backup are restored on %s', async (_, isUsed) => {
  const [volume, backup] = [join(home, 'volume'), join(home, 'backup')]
  mkdirSync(volume)
  mkdirSync(backup)
  if (isUsed) mkdirSync(join(volume, '18/docker'), { recursive: true })
  if (isUsed) writeFileSync(join(volume, '18/docker/PG_VERSION'), 'broken')
  writeFileSync(join(backup, 'PG_VERSION'), '18')
  const [, script = ''] = /'([^']+)' </.exec(blockOf('restoreFiles')) ?? []
  const restoring = `tar -c -C ${backup} . | sh -c '${script.replace('/var/lib/postgresql', volume)}'`
  expect(await Bun.spawn(['sh', '-c', restoring]).exited).toBe(0)
  expect(readFileSync(join(volume, '18/docker/PG_VERSION'), 'utf8')).toBe('18')
  const broken = readdirSync(join(volume, '18')).filter((name) => name.startsWith('broken-'))
  expect(broken.map((name) => readFileSync(join(volume, '18', name, 'PG_VERSION'), 'utf8'))).toEqual(
    isUsed ? ['broken'] : [],
  )
})
