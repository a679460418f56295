import { expect, test } from 'bun:test'
import type { LoggedRequest } from './request-log'
import { openRequests } from './requests'

test('a full session storage stops neither a request nor its answer', () => {
  const exchange: LoggedRequest = {
    id: 1,
    number: 1,
    method: 'POST',
    url: 'http://127.0.0.1:3000/topups',
    headers: {},
    times: 1,
  }
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    },
  }
  const { report } = openRequests(full)
  expect(() => report(exchange)).not.toThrow()
  expect(() => report({ ...exchange, status: 200, answer: '{}' })).not.toThrow()
})
