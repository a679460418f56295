import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { unbalanced } from '#shared/ledger/position'
import { between, examples, readme, tables } from './examples'

test('the worked examples of the README are what the rows come to', () => {
  expect(between(readFileSync(readme, 'utf8'))).toBe(tables())
})

test('whose positions come to 0 in every asset', () => {
  for (const { steps } of examples)
    for (const [event, lines] of steps) expect([event, unbalanced(lines)]).toEqual([event, []])
})
