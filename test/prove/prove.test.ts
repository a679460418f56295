import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pagesOf } from '#infra/documents/write'
import { repositoryDir } from '#infra/local/folders'
import { allSuites, tierOf } from '../runner/suites'
import { enginesBlock } from './document'
import { engines } from './engines'
import { outcomeIn, outcomeLine } from './outcome'

test('every engine has its own name and existing files', () => {
  const names = engines.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const files = engines.flatMap(({ run }) => run.filter((word) => word.endsWith('.ts')))
  expect(files.filter((file) => !existsSync(join(repositoryDir, file)))).toEqual([])
})

test('every proof suite belongs to an engine', () => {
  const run = new Set(engines.flatMap((engine) => engine.run.map((word) => word.replace('./', ''))))
  const proofs = allSuites().filter((path) => tierOf(path) === 'proof')
  expect(proofs.filter((path) => !run.has(path))).toEqual([])
})

test('test/README.md lists every engine, or is out of date: bun run generate documents', () => {
  for (const { found, wanted } of pagesOf([enginesBlock])) expect(found).toBe(wanted)
})

test('the outcome of an engine is read from its last line', () => {
  const outcome = { amount: '392 faults, 1,645 flows', found: 2 }
  expect(outcomeIn(`a table\n${outcomeLine(outcome)}\n`)).toEqual(outcome)
})

test("the outcome of suites is read from bun's counts", () => {
  expect(outcomeIn('\n 12 pass\n 1 fail\n 40 expect() calls\n')).toEqual({
    amount: '13 tests',
    found: 1,
    skipped: 0,
  })
  expect(outcomeIn('\n 0 pass\n 26 skip\n 0 fail\n')).toMatchObject({ found: 0, skipped: 26 })
})

test('an engine whose tests did not run has not proved anything', async () => {
  const child = Bun.spawn([process.execPath, 'test/prove/prove.ts', 'alerts'], {
    cwd: repositoryDir,
    env: { ...process.env, PATH: '/nonexistent', PROMETHEUS_DIR: '/nonexistent' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  expect(await new Response(child.stdout).text()).toMatch(/\| alerts +\| 0 tests +\| \d+ tests did not run \|/)
  expect(await child.exited).toBe(1)
})

test('an interrupted engine has no outcome', () => {
  expect(outcomeIn('a table, and then nothing')).toBeUndefined()
})

test('an engine without options reports that for --help, and does not run', async () => {
  const child = Bun.spawn([process.execPath, 'test/prove/prove.ts', 'powercut', '--help'], {
    cwd: repositoryDir,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await new Response(child.stdout).text()).toMatch(/^powercut: .* It takes no options\.\n$/)
  expect(await child.exited).toBe(0)
})
