import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')
let copy: string

/** The sources once more, to put a defect into. */
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'canary-'))
  for (const part of ['services', 'shared', 'test/simulation', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function apply(...patch: string[]) {
  const { exitCode, stderr } = Bun.spawnSync(['git', 'apply', ...patch], { cwd: copy })
  expect(stderr.toString()).toBe('')
  expect(exitCode).toBe(0)
}

async function simulate(...args: string[]) {
  const command = [process.execPath, 'test/simulation/simulate.ts', ...args]
  const run = Bun.spawn(command, { cwd: copy, stdout: 'pipe', stderr: 'inherit' })
  const out = await new Response(run.stdout).text()
  return { code: await run.exited, out }
}

const random = ['--flows', '4000', '--once']
const orderTwice = ['--walk', 'one refused']

test.each([
  ['outbox', 'noted as sent before the broker confirmed', random, 'is noted as published'],
  [
    'relayer',
    'a cancelled transfer taken for one that was done',
    random,
    'AUSD in the treasury, not',
  ],
  ['payouts', 'a refusal believed too early', orderTwice, 'given back, and the bank pays'],
] as const)(
  'the canary in %s is found: %s',
  async (name, _, args, finding) => {
    const patch = join(root, 'test/simulation/canaries', `${name}.patch`)
    apply(patch)
    const { code, out } = await simulate(...args)
    apply('--reverse', patch)
    expect(out).toContain(finding)
    // A story: what happened, one step after the other.
    expect(out).toContain(
      args === random ? 'A short story of it:' : 'relay.take is done on the chain',
    )
    expect(code).toBe(1)
  },
  600_000,
)
