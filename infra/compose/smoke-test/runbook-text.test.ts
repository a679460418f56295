import { expect, test } from 'bun:test'
import { blockOf, pageSection, runbookBlocks, secretNames } from './runbook-text'

test.each(runbookBlocks)('the block %s that the rehearsal runs is in the runbook, once', (name) => {
  expect(blockOf(name)).toMatch(/\S/)
})

test.each(secretNames().map((name) => name.toUpperCase()))('the runbook has a way to rotate %s', (name) => {
  const rotated = pageSection('secrets', 'Rotate').matchAll(/`([A-Z_*]+)`/g)
  const patterns = [...rotated].map(([, word]) => new RegExp(`^${word!.replaceAll('*', '[A-Z_]+')}$`))
  expect(patterns.some((pattern) => pattern.test(name))).toBe(true)
})
