import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { moments, rare, steps } from './coverage'

const sources = [...new Glob('**/*.ts').scanSync(import.meta.dir)].filter((path) => !/coverage/.test(path))
const text = sources.map((path) => readFileSync(join(import.meta.dir, path), 'utf8')).join('\n')

test('every sight that the simulation reports is wanted, or rare with a reason', () => {
  const known = new Set<string>([...moments, ...steps, ...Object.keys(rare)])
  const reported = [...text.matchAll(/\bsaw\(\s*'([^']+)'/g)].map(([, sight]) => sight!)
  expect(reported.length).toBeGreaterThan(10)
  expect(reported.filter((sight) => !known.has(sight))).toEqual([])
})

test('every sight that is wanted, or rare, is one that the simulation can report', () => {
  const isReported = (sight: string) => text.includes(`'${sight}'`) || steps.includes(sight)
  expect([...moments, ...Object.keys(rare)].filter((sight) => !isReported(sight))).toEqual([])
})
