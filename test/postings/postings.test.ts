import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { calls, proofs, root } from './postings'

const found = calls().map(({ name }) => name)

test('every call that posts something has a suite that proves it', () => {
  expect(found.filter((name) => !(name in proofs))).toEqual([])
  expect(found.length).toBeGreaterThan(30)
})

test('and no proof is named of a call that there is not, nor a suite', () => {
  expect(Object.keys(proofs).filter((name) => !found.includes(name))).toEqual([])
  expect(Object.values(proofs).filter((path) => !existsSync(join(root, path)))).toEqual([])
})
