import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { verbs } from '#infra/operations/cli/main'
import { blocks } from './blocks'
import { filesOf, pagesOf, withBlock } from './write'

const remedy = 'out of date: bun run generate documents'

describe('generated blocks', () => {
  test.each([...pagesOf(blocks), ...filesOf()])('$path is up to date', ({ found, wanted }) => {
    expect(found === wanted || remedy).toBe(true)
  })

  test('block names are unique within a page', () => {
    const named = blocks.map(({ page, name }) => `${page} ${name}`)
    expect(new Set(named).size).toBe(named.length)
  })

  test('a page without the markers is refused with the lines to add', () => {
    const block = { page: 'a.md', name: 'b', lines: () => ['c'] }
    expect(() => withBlock('text', block)).toThrow('a.md: add the lines <!-- generated: b -->')
    const marked = '<!-- generated: b -->\nold\n<!-- end of generated -->\nrest'
    const wanted = '<!-- generated: b -->\n\nc\n\n<!-- end of generated -->\nrest'
    expect(withBlock(marked, block)).toBe(wanted)
    expect(withBlock(wanted, block)).toBe(wanted)
  })
})

const documents = ['*.md', '.github/*.md', '{services,shared,infra,test}/**/*.md'].flatMap((glob) => [
  ...new Glob(glob).scanSync({ cwd: repositoryDir, dot: true }),
])
const read = (path: string) => readFileSync(join(repositoryDir, path), 'utf8')
/** Returns the first group of every match, as `page: match`, which shows where it failed. */
const foundIn = (pattern: RegExp) =>
  documents.flatMap((page) => [...read(page).matchAll(pattern)].map(([, name]) => ({ page, name: name! })))

describe('names in documents', () => {
  test('every path named in a document exists', () => {
    const named = foundIn(/`((?:services|shared|infra|test)\/[\w./-]+\.\w+)`/g)
    expect(named.filter(({ name }) => !existsSync(join(repositoryDir, name)))).toEqual([])
  })

  test('every script named in a document exists', () => {
    const all = new Glob('{services,shared,infra,test}/**/*.ts').scanSync(repositoryDir)
    const known = new Set([...all].map((path) => basename(path)))
    const named = foundIn(/`([\w-]+(?:\.[\w-]+)*\.ts)`/g)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('every name in capitals, such as that of a variable, is in a source', () => {
    const sources = ['services', 'shared', 'infra', 'test'].flatMap((folder) => [
      ...new Glob(`${folder}/**/*.{ts,sol,sh,yaml,json,example,conf}`).scanSync(repositoryDir),
    ])
    const capitals = /[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+/g
    const known = new Set(sources.flatMap((path) => read(path).match(capitals) ?? []))
    const isDerived = ({ page }: { page: string }) => page === 'services/gateway/guide/pages/webhooks.md'
    const named = foundIn(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b[^`]*`/g).filter((one) => !isDerived(one))
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('every command of operators exists', () => {
    const named = [
      ...foundIn(/(?:bun run ops|oper infra\/operations\/cli\/main\.ts) ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/g),
      // If the program is left out, the first of two words shows that it is a command.
      ...foundIn(/`(?:… )?([a-z][a-z-]* [a-z][a-z-]*)[^`]*`/g).filter(
        ({ name }) => verbs.get(name.split(' ')[0]!)?.among,
      ),
    ]
    expect(named.length).toBeGreaterThan(50)
    const isKnown = (command: string) => {
      const [name = '', next] = command.split(' ')
      const verb = verbs.get(name)
      return verb && (!verb.among || next === undefined || next in verb.among)
    }
    expect(named.filter(({ name }) => !isKnown(name))).toEqual([])
  })

  test('every test named in quotes after its file exists', () => {
    const named = documents.flatMap((page) =>
      [...read(page).matchAll(/\]\(([\w./-]+\.ts)\) "([^"]+)"/g)].map(([, path, title]) => ({
        page,
        path: join(dirname(page), path!),
        title: title!,
      })),
    )
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter(({ path, title }) => !read(path).includes(title))).toEqual([])
  })

  test('every link in a document leads to a file', () => {
    const links = foundIn(/\]\((?!https?:)([^)#\s]+)/g)
    expect(links.length).toBeGreaterThan(20)
    const missing = links.filter(({ page, name }) => !existsSync(join(repositoryDir, dirname(page), name)))
    expect(missing).toEqual([])
  })
})
