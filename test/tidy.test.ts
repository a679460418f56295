import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { serviceNames } from '#shared/messages/topic'

const root = join(import.meta.dir, '..')
const files = [...new Glob('{services,shared,infra,test}/**/*.{ts,sol}').scanSync(root)].filter(
  (path) => !path.endsWith('.gen.ts'),
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const sources = files.filter((path) => !path.endsWith('.test.ts'))
const linesOf = (path: string) => read(path).split('\n').length

describe('every file', () => {
  test.each(files)('%s fits on a few screens', (path) => {
    expect(linesOf(path)).toBeLessThanOrEqual(300)
  })

  test.each(files.filter((path) => path !== 'test/tidy.test.ts'))(
    '%s leaves nothing for others',
    (path) => {
      expect(read(path)).not.toMatch(/\b(TODO|FIXME|XXX|HACK)\b|\.(only|skip)\(/)
    },
  )

  test('is short in the middle: the median is at most 60 lines', () => {
    const lengths = sources.map(linesOf).sort((left, right) => left - right)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(60)
  })
})

describe('imports point one way', () => {
  test.each(files.filter((path) => path.startsWith('shared/')))(
    '%s knows no service and no infrastructure',
    (path) => {
      expect(read(path)).not.toMatch(/from '(\.\.\/)*(services|infra)\/|from '#infra\//)
    },
  )

  test.each(sources.filter((path) => path.startsWith('services/')))(
    '%s knows no other service',
    (path) => {
      const own = path.split('/')[1]!
      const others = serviceNames.filter((name) => name !== own)
      expect(read(path)).not.toMatch(new RegExp(`from '[^']*/(${others.join('|')})/`))
      expect(read(path)).not.toMatch(/from '#infra\//)
    },
  )
})

describe('the environment', () => {
  const readers = ['shared/config.ts', 'shared/service.ts', 'shared/failpoint.ts']
  test.each(sources.filter((path) => /^(services|shared)\//.test(path) && !readers.includes(path)))(
    'is not read by %s',
    (path) => {
      expect(read(path)).not.toMatch(/process\.env|Bun\.env/)
    },
  )
})

describe('subjects', () => {
  const catalogue = /^shared\/messages\//
  test.each(sources.filter((path) => /^(services|shared)\//.test(path) && !catalogue.test(path)))(
    'are not spelled out in %s',
    (path) => {
      expect(read(path)).not.toMatch(
        /'(relay|payments|payouts|pricing|chain|indexer|identity|webhooks)\.[a-z]+(\.[a-z]+)*'/,
      )
    },
  )
})

describe('every service', () => {
  test.each(serviceNames)(
    '%s has a README with an authority table, a config.ts and a short main.ts',
    (name) => {
      expect(read(`services/${name}/README.md`)).toMatch(/\|\s*Authority\s*\|/i)
      expect(linesOf(`services/${name}/main.ts`)).toBeLessThanOrEqual(60)
      expect(read(`services/${name}/config.ts`)).toContain('fields')
    },
  )

  test.each(serviceNames)('%s documents exactly the variables it reads', async (name) => {
    const { fields } = (await import(join(root, `services/${name}/config.ts`))) as {
      fields: Record<string, unknown>
    }
    const documented = [
      ...read(`services/${name}/README.md`).matchAll(/^\|\s*`([A-Z][A-Z0-9_]+)`/gm),
    ].map((row) => row[1]!)
    expect(documented.sort()).toEqual(Object.keys(fields).sort())
  })
})
