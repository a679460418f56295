import { expect, test } from 'bun:test'
import { pause } from '#platform/deadline'

test('a pause that is longer than any timer does not end at once', async () => {
  const stop = new AbortController()
  const month = pause(30 * 86_400_000, stop.signal).then(() => 'a month')
  const moment = pause(100).then(() => 'a moment')
  expect(await Promise.race([month, moment])).toBe('a moment')
  stop.abort()
  await month
})
