import { expect, test } from 'bun:test'
import { sseResponse } from './sse'

test('a page that connects while this instance shuts down is closed at once', async () => {
  const response = sseResponse(AbortSignal.abort(), () => () => {})
  expect(await response.text()).toBe('')
})
