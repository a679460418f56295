import { describe, expect, test } from 'bun:test'
import { laneFault } from './lane'

describe('a lane', () => {
  test.each([
    ['that is new on both sides', 0, 0, [], null],
    ['with everything mined', 7, 7, [], null],
    ['with two under way', 7, 5, [5, 6], null],
    ['with one mined but not final', 7, 6, [5, 6], null],
    ['whose key sent something we never stored', 7, 8, [], 'chain_ahead'],
    ['with a restored backup', 5, 7, [3, 4], 'chain_ahead'],
    ['on a chain that began anew', 7, 0, [], 'nonce_missing'],
    ['with a hole before what is under way', 7, 5, [6], 'nonce_missing'],
  ] as const)('%s: next %d, chain %d, open %p -> %p', (_case, next, chain, open, fault) => {
    const openNonces = new Set<number>(open)
    expect(laneFault({ nextNonce: next, chainCount: chain, openNonces })).toBe(fault)
  })
})
