import { expect, test } from 'bun:test'
import { blocksIn } from '#shared/chain/blocks'
import { takeAgeMaxSeconds } from '../keys/policy'
import { chunkBlocks, chunksMax } from './authorization'

test('a search for the use of an authorization reaches back further than takes are returned outside the limits', () => {
  expect(BigInt(chunksMax) * chunkBlocks).toBeGreaterThan(blocksIn(Number(takeAgeMaxSeconds) / 3_600))
})
