import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'
import { itemKinds, whens } from '#infra/operations/timeline/items'
import { searchFields } from '#infra/operations/timeline/search'
import { currencies } from '#shared/money/money'
import { flows } from './event-feed'
import { exceptionKinds } from './exceptions'

// The page is not TypeScript, and its modules load only in a browser.

const pageOf = (name: string) => readFileSync(join(repositoryDir, 'services/gateway/operators/page', name), 'utf8')
const bodyOf = (text: string, start: string, end: string) => text.slice(text.indexOf(start)).split(end)[0]!
const firstsOf = (table: string) => [...table.matchAll(/^ {2}\['(\w+)', /gm)].map(([, name]) => name!)

test('the page of the console has a filter for each kind of exception', () => {
  expect(firstsOf(bodyOf(pageOf('attention.js'), 'const kinds = [', '\n]')).sort()).toEqual([...exceptionKinds].sort())
})

test('the page of the console has a filter for each flow of the feed', () => {
  expect(firstsOf(bodyOf(pageOf('motion.js'), 'const flows = [', '\n]')).sort()).toEqual([...flows].sort())
})

test('the page of the console has a field for each field of a search, and each kind and currency', () => {
  const page = pageOf('search.js')
  const names = [...bodyOf(page, 'const fields = [', '\n]').matchAll(/name: '(\w+)'/g)].map(([, name]) => name!)
  expect(names.toSorted()).toEqual([...searchFields].toSorted())
  expect(firstsOf(bodyOf(page, 'const kinds = [', '\n]')).sort()).toEqual([...itemKinds].sort())
  expect(firstsOf(bodyOf(page, 'const currencies = [', '\n]')).sort()).toEqual([...currencies].sort())
  expect(['created', ...firstsOf(bodyOf(page, 'const periods = [', '\n]'))].sort()).toEqual([...whens].sort())
})

test('the page of the console leaves out only entries that a timeline can have', () => {
  const timeline = join(repositoryDir, 'infra/operations/timeline')
  const sources = [...new Glob('*.ts').scanSync(timeline)].map((path) => readFileSync(join(timeline, path), 'utf8'))
  const [, list = ''] = /const isDetail = .*\[(.*)\]/.exec(pageOf('item.js'))!
  const names = [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !sources.some((text) => text.includes(`what: '${name}'`)))).toEqual([])
})
