import { describe, expect, test } from 'bun:test'
import { openLog, openLogThrottled } from '#shared/log'

function openThrottled() {
  const lines: { level: string; msg: string; lane?: string }[] = []
  const log = openLog('suite', 'warn', { write: (line) => void lines.push(JSON.parse(line)) })
  let now = 1_000_000
  const logThrottled = openLogThrottled(log, () => now)
  return { lines, logThrottled, pass: (ms: number) => (now += ms) }
}

describe('a problem that lasts', () => {
  test('is logged once in 10 s, and each problem on its own', () => {
    const { lines, logThrottled, pass } = openThrottled()
    for (let round = 0; round < 10; round++) {
      logThrottled('a', {}, 'a failed')
      if (round % 5 === 0) logThrottled(`b${round}`, {}, 'b failed')
      pass(1_000)
    }
    expect(lines.map(({ msg }) => msg)).toEqual(['a failed', 'b failed', 'b failed'])
    pass(1)
    logThrottled('a', {}, 'a failed')
    expect(lines).toHaveLength(4)
  })

  test('is a warning, and an error when it calls a person', () => {
    const { lines, logThrottled } = openThrottled()
    logThrottled('a', { lane: '1' }, 'waits')
    logThrottled('b', { alarm: true }, 'is blocked')
    expect(lines).toMatchObject([
      { level: 'warn', lane: '1', msg: 'waits' },
      { level: 'error', alarm: true, msg: 'is blocked' },
    ])
  })
})
