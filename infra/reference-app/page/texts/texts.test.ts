import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { english } from './english'
import { indonesian } from './indonesian'
import { malay } from './malay'

type Tree = { readonly [name: string]: string | ((...values: never[]) => string) | Tree }

/** Returns all texts. Functions are called with marks that their text must contain. */
function textsOf(tree: Tree, path = ''): [string, string][] {
  return Object.entries(tree).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[`${path}${name}`, value]]
    if (typeof value === 'object') return textsOf(value, `${path}${name}.`)
    const marks = ['⟨0⟩', '⟨1⟩'].slice(0, value.length)
    return [[`${path}${name}`, (value as (...marks: string[]) => string)(...marks)]]
  })
}

describe.each([
  ['Indonesian', indonesian],
  ['Malay', malay],
])('the page in %s', (_, language) => {
  const english_ = new Map(textsOf(english))
  const own = textsOf(language)

  test('has every text, with every value that the English one has', () => {
    expect(own.map(([path]) => path).sort()).toEqual([...english_.keys()].sort())
    const marks = (text = '') => [...text.matchAll(/⟨\d⟩|\$SESSION|0x|\d{6,}/g)].map(String).sort()
    for (const [path, text] of own) {
      expect(text.trim()).not.toBe('')
      expect([path, marks(text)]).toEqual([path, marks(english_.get(path))])
    }
  })

  test('leaves no sentence in English', () => {
    const same = own.filter(([path, text]) => text === english_.get(path) && text.split(' ').length > 2)
    expect(same).toEqual([])
  })
})

test('every text of the page is shown somewhere', () => {
  const folder = join(import.meta.dir, '..')
  const sources = [...new Glob('**/*.ts').scanSync(folder)]
    .filter((path) => !path.startsWith('texts/'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n')
  const unused = Object.keys(english).filter((name) => !new RegExp(`\\.${name}\\b`).test(sources))
  expect(unused).toEqual([])
})
