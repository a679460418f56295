import { describe, expect, test } from 'bun:test'
import { benchNames, readOptions } from './options'

describe('bench options', () => {
  test('without names select every bench', () => {
    expect(readOptions([])).toMatchObject({ names: benchNames, events: 200_000, write: false })
  })

  test('select benches in any order, which run in a fixed order', () => {
    const { names, events } = readOptions(['ponder', 'backfill', '--events', '500'])
    expect(names).toEqual(['backfill', 'ponder'])
    expect(events).toBe(500)
  })

  test.each([
    [['backfil'], 'unknown bench: backfil'],
    [['--events', '0'], '--events'],
    [['--events', '1e5'], '--events'],
    [['--rate', '-1'], '--rate'],
    [['--fsync-ms', '0.5'], '--fsync-ms'],
    [['--fast'], '--fast'],
  ])('%j is refused', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason)
  })
})
