import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { localStack } from '#infra/compose/composition'
import { repositoryDir } from '#infra/local/folders'

const read = (path: string) => readFileSync(join(repositoryDir, path), 'utf8')
const readme = read('infra/sandbox/README.md')
const sectionOf = (title: string) => readme.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!

const config = read('infra/sandbox/config.ts')
const variables = [...config.matchAll(/read\.\w+\('(\w+)'|env\.(\w+)/g)].map(([, one, other]) => (one ?? other)!)

/** Paths of all controls, below `/control`. */
const controls = [...new Glob('infra/sandbox/**/*.ts').scanSync(repositoryDir)]
  .flatMap((path) => [...read(path).matchAll(/path: '\/control\/([^']+)'/g)])
  .map(([, path]) => path!)

test('the README of the sandbox lists every variable that the sandbox reads, and no other', () => {
  const lines = sectionOf('Environment')
    .split('\n')
    .filter((line) => line.startsWith('- '))
  const listed = lines.flatMap((line) =>
    [...line.split(':')[0]!.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name!),
  )
  expect([...new Set(listed)].sort()).toEqual([...new Set(variables)].sort())
})

test('the sandbox reads every variable that compose gives it', () => {
  const given = Object.keys(localStack().services.sandbox!.environment ?? {})
  expect(given.filter((name) => !variables.includes(name))).toEqual([])
})

test('the README of the sandbox lists every control, and no other', () => {
  const text = sectionOf('Controls')
  const listed = [...text.matchAll(/^- ((?:`[\w:/]+`(?:, )?)+)/gm)].flatMap(([, names = '']) => {
    let group = ''
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
      if (name.startsWith('/')) return `${group}${name}`
      group = name.slice(0, name.lastIndexOf('/'))
      return name
    })
  })
  const read = [...text.matchAll(/^`GET \/control\/(\w+)`/gm)].map(([, name]) => name!)
  const bare = (path: string) => path.replace(/:\w+/, ':id')
  expect([...new Set([...listed, ...read].map(bare))].sort()).toEqual([...new Set(controls.map(bare))].sort())
})

test('every control named in the guide exists', () => {
  const pages = [...new Glob('services/gateway/guide/pages/*.md').scanSync(repositoryDir)]
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\/control\/([\w<>/-]+)/g)].map(([, path]) => ({
      page,
      path: path!.replace(/<\w+>/, ':id'),
    })),
  )
  const known = new Set(controls.map((path) => path.replace(/:\w+/, ':id')))
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ path }) => !known.has(path))).toEqual([])
})
