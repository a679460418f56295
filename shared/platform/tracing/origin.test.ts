import { expect, test } from 'bun:test'
import { originOf, requestIdOf } from '#platform/tracing/origin'

test('trace and first span of a request are derived from its id', () => {
  const origin = originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c11')
  expect(origin).toEqual(originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c11'))
  expect(origin.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(origin.spanId).toMatch(/^[0-9a-f]{16}$/)
  const other = originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c12')
  expect([other.traceId, other.spanId]).not.toContain(origin.traceId)
  expect(other.spanId).not.toBe(origin.spanId)
})

test("a request named after its caller's span is in the caller's trace, with its own span", () => {
  const callers = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const origin = originOf(requestIdOf(callers))
  expect(origin.traceId).toBe(callers.traceId)
  expect(origin.spanId).not.toBe(callers.spanId)
})
