import { expect, test } from 'bun:test'
import { blockOf, runbookBlocks } from './runbook-text'

test.each(runbookBlocks)('the block %s that the rehearsal runs is in the runbook, once', (name) => {
  expect(blockOf(name)).toMatch(/\S/)
})
