import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { serviceNames } from '#shared/messages/topic'

const root = join(import.meta.dir, '..')
const files = [...new Glob('{services,shared,infra,test}/**/*.{ts,sol}').scanSync(root)].filter(
  (path) => !path.endsWith('.gen.ts') && path !== 'test/tidy.test.ts',
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const linesOf = (path: string) => read(path).split('\n').length

/** Fixtures (`rig/`, `test-support`) are test code. */
const fixture = /\/(rig\/|test-support\b)/
const sources = files.filter((path) => !path.endsWith('.test.ts') && !fixture.test(path))
const inServices = sources.filter((path) => path.startsWith('services/'))
const inShared = sources.filter((path) => path.startsWith('shared/'))

/** Every line that a rule forbids, as `path: line`: a broken rule shows where. */
const offences = (paths: readonly string[], forbidden: RegExp): string[] =>
  paths.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => forbidden.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )

describe('every file', () => {
  test('fits on a few screens: at most 400 lines', () => {
    expect(files.filter((path) => linesOf(path) > 400)).toEqual([])
  })

  test('leaves nothing for others to do and skips no test', () => {
    expect(offences(files, /\b(TODO|FIXME|XXX|HACK)\b|\.(only|skip)\(/)).toEqual([])
  })
})

describe('imports point one way', () => {
  test('shared knows no service and no infrastructure', () => {
    expect(offences(inShared, /from '(\.\.\/)*(services|infra)\/|from '#infra\//)).toEqual([])
  })

  test.each(serviceNames)('%s knows no other service and no infrastructure', (name) => {
    const others = serviceNames.filter((other) => other !== name)
    const foreign = new RegExp(`from '[^']*/(${others.join('|')})/|from '#infra/`)
    const own = inServices.filter((path) => path.startsWith(`services/${name}/`))
    expect(offences(own, foreign)).toEqual([])
  })
})

describe('in services and shared', () => {
  const readers = ['shared/config.ts', 'shared/service.ts', 'shared/failpoint.ts']

  test('the environment is read in one place', () => {
    const paths = [...inServices, ...inShared].filter((path) => !readers.includes(path))
    expect(offences(paths, /process\.env|Bun\.env/)).toEqual([])
  })

  test('subjects are spelled out in the catalogue alone', () => {
    const owners = 'relay|payments|payouts|pricing|chain|indexer|identity|webhooks'
    const literal = new RegExp(`'(${owners})\\.[a-z]+(\\.[a-z]+)*'`)
    const paths = [...inServices, ...inShared].filter(
      (path) => !path.startsWith('shared/messages/'),
    )
    expect(offences(paths, literal)).toEqual([])
  })
})

describe('every service', () => {
  test.each(serviceNames)(
    '%s says who is the authority on what, and has a short main.ts',
    (name) => {
      expect(read(`services/${name}/README.md`)).toMatch(/\|\s*Authority\s*\|/i)
      expect(linesOf(`services/${name}/main.ts`)).toBeLessThanOrEqual(80)
    },
  )

  test.each(serviceNames)('%s documents exactly the variables it reads', async (name) => {
    const config = (await import(join(root, `services/${name}/config.ts`))) as {
      fields: Record<string, unknown>
    }
    const [, section] = read(`services/${name}/README.md`).split(/^## .*Environment.*$/m)
    const firstCells = [...(section ?? '').matchAll(/^\|([^|]*)\|/gm)].map((row) => row[1]!)
    const documented = firstCells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)])
    expect(documented.map((match) => match[1]!).sort()).toEqual(Object.keys(config.fields).sort())
  })
})
