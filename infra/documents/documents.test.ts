import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { blocks } from './blocks'
import { pagesOf, withBlock } from './write'

const remedy = 'out of date: bun run generate documents'

describe('generated blocks', () => {
  test.each(pagesOf(blocks))('$path has current blocks', ({ found, wanted }) => {
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
/** First group of every match, as `page: match`, which shows where it failed. */
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
