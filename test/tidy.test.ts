import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Glob } from 'bun'
import { serviceNames } from '#shared/messages/topic'
import { circlesAmong, importsOf, names } from './imports'

const root = join(import.meta.dir, '..')
const files = [...new Glob('{services,shared,infra,test}/**/*.{ts,sol}').scanSync(root)].filter(
  (path) => !path.endsWith('.gen.ts') && path !== 'test/tidy.test.ts',
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const scripts = files.filter((path) => path.endsWith('.ts'))
/** Returns true for a file that is neither a suite nor a fixture. */
const isSource = (path: string) => !/\.(test|suite)\.ts$|test-support/.test(path)
const inServices = scripts.filter((path) => path.startsWith('services/') && isSource(path))
const inShared = scripts.filter((path) => path.startsWith('shared/') && isSource(path))
const inInfra = scripts.filter((path) => path.startsWith('infra/') && isSource(path))

/** Returns the lines that break a rule, as `path: line`. */
const offences = (paths: readonly string[], forbidden: RegExp): string[] =>
  paths.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => forbidden.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )

/** Returns the forbidden imports, as `path -> file`. */
const imports = (paths: readonly string[], isForbidden: (file: string) => boolean): string[] =>
  paths.flatMap((path) =>
    importsOf(root, path, names)
      .files.filter(isForbidden)
      .map((file) => `${path} -> ${file}`),
  )

describe('every source file', () => {
  test('has no TODOs and no skipped tests', () => {
    expect(offences(files, /\b(TODO|FIXME|XXX|HACK)\b|\.(only|skip)\(/)).toEqual([])
  })

  test('imports files without the suffix .ts', () => {
    expect(offences(scripts, /(from |import\()'\.[^']*\.ts'/)).toEqual([])
  })
})

/** Returns true for a file that reads the wall clock as a time of day; its reason is on the left. */
const readsTimeOfDay = (path: string) =>
  [
    ['the two clocks', /^shared\/platform\/(clock|db\/clock)\.ts$/],
    [
      'the end of a signed message or of a provider’s list',
      /^shared\/(client\/service-time|provider\/transactions)\.ts$/,
    ],
    ['the time since the broker stored a message', /^shared\/platform\/bus\/consume\.ts$/],
    ['the same in the guide’s examples', /^services\/gateway\/guide\/examples\//],
    ['stored times of a restore, and of explanations', /^infra\/operations\/(restore\/.*|cli\/reconcile)\.ts$/],
    ['the clock of Postgres against that of an operator', /^infra\/operations\/health\/rows\.ts$/],
    ['times of blocks', /^infra\/(deploy\/gas|demo\/person|local\/chain\/keep|reference-app\/page\/chain)\.ts$/],
    [
      'times of files, requests and items',
      /^infra\/(bundle\/bundle|reference-app\/page\/(app|request-log|sections\/(activity|auto-repay|offer)))\.ts$/,
    ],
    ['times of the sandbox, and of a report of the smoke test', /^infra\/(sandbox|compose\/smoke-test)\//],
  ].some(([, form]) => (form as RegExp).test(path))

test('no duration is measured by the wall clock, which a step of NTP moves', () => {
  const sources = [...inServices, ...inShared, ...inInfra].filter((path) => !readsTimeOfDay(path))
  expect(offences(sources, /Date\.now\(/)).toEqual([])
})

/** Returns the stem of a word: `rateCaches` and `openRateCache` both contain that of `cache`. */
const stemOf = (word: string): string => {
  const stem = word.replace(/(ations?|ions?|ings?|ers?|ors?|ures?|ies|es|s|e|y)$/, '')
  return stem.length < 2 ? word : stem
}
/** File names that say only the role, because the folder says what the file is about. */
const roles = /^(config|main|client|mapping|webhook|advance|decide|tables|records|command|catalogue|fields|topology)$/
/** Returns true for files that have the names of resources and of owners. */
const isVocabulary = (path: string) => /^shared\/(api|messages)\//.test(path) || /\/(page|examples)\//.test(path)

test('a file has the name of what it exports', () => {
  const exported = /^export (?:async |abstract )*(?:function\*?|const|type|interface|class) (\w+)/gm
  const strangers = [...inServices, ...inShared, ...inInfra].filter((path) => {
    const [stem = ''] = basename(path).split('.')
    const names = [...read(path).matchAll(exported)].map(([, name]) => name!.toLowerCase())
    if (names.length === 0 || roles.test(stem) || isVocabulary(path)) return false
    return !names.some((name) => name.includes(stemOf(stem.split('-').at(-1)!)))
  })
  expect(strangers).toEqual([])
})

test('every patch of a dependency is applied by package.json', () => {
  const { patchedDependencies } = JSON.parse(read('package.json')) as { patchedDependencies: Record<string, string> }
  const patches = [...new Glob('infra/patches/*').scanSync(root)]
  expect(patches.sort()).toEqual(Object.values(patchedDependencies).sort())
})

describe('every page', () => {
  const pages = [...new Glob('{services,infra}/**/page/**/*.{js,ts,css,html}').scanSync(root)]

  test('builds no markup from text, and has no inline code that its policy would have to allow', () => {
    const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|<style|style="|\son\w+="/
    expect(pages.length).toBeGreaterThan(5)
    expect(offences(pages, forbidden)).toEqual([])
  })
})

describe('imports point one way: test -> infra -> services -> shared', () => {
  test('shared imports no service, no infrastructure and no test', () => {
    expect(imports(inShared, (file) => !file.startsWith('shared/'))).toEqual([])
  })

  test('the platform imports nothing of the domain but messages and refusals', () => {
    const platform = inShared.filter((path) => path.startsWith('shared/platform/'))
    const known = ['shared/platform/', 'shared/messages/', 'shared/refusals.ts']
    expect(imports(platform, (file) => !known.some((start) => file.startsWith(start)))).toEqual([])
  })

  test.each(serviceNames)('%s imports only shared and itself', (name) => {
    const own = inServices.filter((path) => path.startsWith(`services/${name}/`))
    const known = ['shared/', `services/${name}/`]
    expect(imports(own, (file) => !known.some((folder) => file.startsWith(folder)))).toEqual([])
  })

  test('services import nothing of infra: their suites use test/support', () => {
    const all = scripts.filter((path) => path.startsWith('services/'))
    expect(imports(all, (file) => file.startsWith('infra/'))).toEqual([])
    const suites = all.filter((path) => !isSource(path))
    const others = (file: string) => file.startsWith('test/') && !file.startsWith('test/support/')
    expect(imports(suites, others)).toEqual([])
  })

  test('infra imports of services only their configuration and vocabulary, and the restore their erasures', () => {
    const vocabulary = [
      /^services\/[^/]+\/config\.ts$/,
      /^services\/.*\.table\.ts$/,
      /^services\/(payments\/payment|payouts\/cashout)\.ts$/,
      /^services\/payments\/providers\/xendit\/channel\.ts$/,
      /^services\/(chain-relayer\/operations\/operation|gateway\/identity\/identity)\.ts$/,
    ]
    const isForbidden = (file: string) => !/^(infra|shared)\//.test(file) && !vocabulary.some((one) => one.test(file))
    const isRestore = (path: string) => path === 'infra/operations/restore/erased.ts'
    const others = inInfra.filter((path) => !isRestore(path))
    expect(imports(others, isForbidden)).toEqual([])
    const isErasure = (file: string) => file.startsWith('services/') && file.endsWith('/erase.ts')
    const isOther = (file: string) => isForbidden(file) && !isErasure(file)
    expect(imports(inInfra.filter(isRestore), isOther)).toEqual([])
  })

  test('no files import each other in a circle, including types', () => {
    expect(circlesAmong(root, scripts, names)).toEqual([])
  })
})

describe('services and shared', () => {
  const readers = ['shared/platform/config.ts', 'shared/platform/service.ts', 'shared/platform/failpoint.ts']
  /** Returns true for the examples, which have an environment of their own. */
  const isExample = (path: string) => path.startsWith('services/gateway/guide/examples/')

  test('read the environment in one place', () => {
    const paths = [...inServices, ...inShared].filter((path) => !readers.includes(path) && !isExample(path))
    expect(offences(paths, /process\.env|Bun\.env/)).toEqual([])
  })

  test('spell subjects only in the catalogue', () => {
    const owners = 'operations|relay|payments|payouts|pricing|chain|indexer|identity|webhooks'
    const literal = new RegExp(`'(${owners})\\.[a-z]+(\\.[a-z]+)*'`)
    const paths = [...inServices, ...inShared].filter((path) => !path.startsWith('shared/messages/'))
    expect(offences(paths, literal)).toEqual([])
  })
})

describe('every service', () => {
  test.each(serviceNames)('%s has a README with a table of authorities', (name) => {
    expect(read(`services/${name}/README.md`)).toMatch(/\|\s*Authority\s*\|/i)
  })
})
