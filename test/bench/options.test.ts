import { describe, expect, test } from 'bun:test'
import { benchNames, readOptions } from './options'

describe('the command line', () => {
  test('names nothing and means everything', () => {
    expect(readOptions([])).toMatchObject({ names: benchNames, events: 200_000, write: false })
  })

  test('names benches in any order; they run in ours', () => {
    const { names, events } = readOptions(['ponder', 'backfill', '--events', '500'])
    expect(names).toEqual(['backfill', 'ponder'])
    expect(events).toBe(500)
  })

  test.each([
    [['backfil'], 'unknown bench: backfil'],
    [['--events', '0'], '--events'],
    [['--events', '1e5'], '--events'],
    [['--rate', '-1'], '--rate'],
    [['--fast'], '--fast'],
  ])('%j is refused', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason)
  })
})
