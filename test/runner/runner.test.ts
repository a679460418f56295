import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { importsOf, names } from '../imports'
import { type Block, failureIn, forReader, openReader } from './output'
import { clockText, openProgress, secondsLeft } from './progress'
import { allSuites, select, tierOf } from './suites'
import { isUsable } from './temporary'

const output = `
shared/a.test.ts:
(pass) money > is exact [0.10ms]

services/b.ci.test.ts:
12 |   expect(1).toBe(2)
error: expect(received).toBe(expected)
(fail) a hold > ends once [3.00ms]
(pass) a hold > begins

shared/a.test.ts:
(skip) money > in a browser

1 tests failed:
(fail) a hold > ends once [3.00ms]

 2 pass
 1 skip
 1 fail
 4 expect() calls`

function read(text: string) {
  const blocks: Block[] = []
  const reader = openReader((block) => blocks.push(block))
  for (const line of text.split('\n')) reader.take(line)
  return { counts: reader.end(), blocks }
}

test('the output of bun is split into concurrent suites, and counted once', () => {
  const { counts, blocks } = read(output)
  expect(counts).toEqual({ passed: 2, failed: 1, skipped: 1 })
  const suites = ['shared/a.test.ts', 'services/b.ci.test.ts', 'shared/a.test.ts']
  expect(blocks.map(({ path }) => path)).toEqual(suites)
})

test('a failure is shown in full, without the passed tests', () => {
  const shown = read(output).blocks.flatMap((block) => failureIn(block) ?? [])
  expect(shown).toEqual([
    'services/b.ci.test.ts:\n12 |   expect(1).toBe(2)\nerror: expect(received).toBe(expected)\n(fail) a hold > ends once [3.00ms]',
  ])
})

test('the output of bun is read where the environment has FORCE_COLOR, GITHUB_ACTIONS and AGENT', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'output-'))
  try {
    mkdirSync(join(dir, 'shared'))
    const suite = `import { test } from 'bun:test'
      test('one', () => {})
      test('two', () => { throw new Error('shown') })`
    writeFileSync(join(dir, 'shared/some.test.ts'), suite)
    const run = Bun.spawn([process.execPath, 'test', '--parallel=2', '--no-isolate', './shared/some.test.ts'], {
      cwd: dir,
      env: { ...process.env, FORCE_COLOR: '1', GITHUB_ACTIONS: 'true', AGENT: '1', ...forReader },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const { counts, blocks } = read(await new Response(run.stderr).text())
    expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 })
    expect(blocks.map(({ path }) => path)).toEqual(['shared/some.test.ts'])
    expect(failureIn(blocks[0]!)).toContain('error: shown')
    expect(blocks[0]!.lines.filter((line) => line.startsWith('(pass) one'))).toHaveLength(1)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('an error outside of any test is a failure of its suite', () => {
  const lines = ['# Unhandled error between tests', 'error: at load']
  expect(failureIn({ path: 'shared/a.test.ts', lines })).toContain('error: at load')
})

test('progress shows elapsed time, suites, tests and the time left', () => {
  const texts: string[] = []
  let now = 0
  const suites = new Map([
    ['shared/a.test.ts', 10],
    ['services/b.ci.test.ts', 30],
  ])
  const progress = openProgress(suites, 1, { write: (text) => texts.push(text) }, () => now)
  for (const block of read(output).blocks) progress.add(block)
  now = 65
  progress.show()
  progress.end({ passed: 2, failed: 1, skipped: 1 }, (line) => texts.push(line))
  expect(texts.slice(1)).toEqual([
    '  1:05  1 of 2 suites, 2 tests passed, 1 failed, about 0:08 left\n',
    '2 suites in 1:05, 1 tests skipped\n',
    '2 passed, 1 failed',
  ])
})

test.each([
  ['nothing done yet: the recorded times of five workers', { elapsed: 0, done: 0, running: 0 }, 60],
  ['nothing done after 5 s: 5 s less', { elapsed: 5, done: 0, running: 50 }, 55],
  ['nothing done after the recorded time', { elapsed: 61, done: 0, running: 50 }, 0],
  ['half done at twice the recorded time: between both', { elapsed: 60, done: 130, running: 40 }, 45],
  ['all done', { elapsed: 90, done: 300, running: 0 }, 0],
])('the time left with %s', (_, run, left) => {
  expect(secondsLeft({ ...run, all: 300, workers: 5 })).toBe(left)
})

test('times are minutes and seconds', () => {
  expect([0, 9.9, 187].map(clockText)).toEqual(['0:00', '0:09', '3:07'])
})

test('the tier of a suite follows from its name', () => {
  expect(['a/b.test.ts', 'a/b.ci.test.ts', 'a/b.proof.test.ts'].map(tierOf)).toEqual(['quick', 'ci', 'proof'])
})

test('suites are selected by tier, or by part of their path in every tier', () => {
  const all = ['a/one.test.ts', 'a/two.ci.test.ts', 'b/three.proof.test.ts']
  expect(select(all, { tiers: ['quick'], patterns: [] })).toEqual(['a/one.test.ts'])
  expect(select(all, { tiers: ['quick', 'ci'], patterns: [] })).toEqual(all.slice(0, 2))
  expect(select(all, { tiers: ['quick'], patterns: ['./a/', 'three'] })).toEqual(all)
})

/** Maps each `*.suite.ts` to the suites that load it. */
const loadedBy = new Map(
  [...new Glob('{services,shared,infra,test}/**/*.suite.ts').scanSync(repositoryDir)].map((path) => [
    path,
    [] as string[],
  ]),
)
for (const suite of allSuites())
  for (const file of importsOf(repositoryDir, suite, names).files) loadedBy.get(file)?.push(suite)

test('every *.suite.ts is loaded by a suite, and so runs', () => {
  expect(loadedBy.size).toBeGreaterThan(20)
  expect([...loadedBy].filter(([, suites]) => suites.length === 0).map(([path]) => path)).toEqual([])
})

test('test/attacks/README.md lists every suite of attacks, with the suite that loads it', () => {
  const folder = 'test/attacks'
  const text = readFileSync(join(repositoryDir, folder, 'README.md'), 'utf8')
  const rows = text.matchAll(/^\| `([a-z-]+)` \| (?:`([\w/.-]+)`)? ?\|/gm)
  const listed = [...rows].map(([, name, loader]) => `${name} ${loader ?? ''}`)
  const isOf = (path: string) => dirname(path) === folder
  const nameOf = (path: string) => basename(path).split('.')[0]!
  const loaders = new Set([...loadedBy.values()].flat())
  const own = allSuites().filter((path) => isOf(path) && !loaders.has(path))
  const wanted = [
    ...own.map((path) => `${nameOf(path)} `),
    ...[...loadedBy].flatMap(([path, [loader = '']]) => {
      if (!isOf(path)) return []
      const from = isOf(loader) ? nameOf(loader) : `../${basename(dirname(loader))}/${nameOf(loader)}`
      return [`${nameOf(path)} ${from === nameOf(path) ? '' : from}`]
    }),
  ]
  expect(listed.sort()).toEqual(wanted.sort())
})

test('a TMPDIR is used by a run if it exists and has room', () => {
  expect(isUsable(import.meta.dir, 0)).toBe(true)
  expect(isUsable('/nowhere', 0)).toBe(false)
  expect(isUsable(import.meta.dir, Number.MAX_SAFE_INTEGER)).toBe(false)
})
