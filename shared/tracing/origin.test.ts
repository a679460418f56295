import { expect, test } from 'bun:test'
import { originOf, requestIdOf } from '#shared/tracing/origin'

test('the trace and the first span of a request follow from its id, and are of no other', () => {
  const origin = originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c11')
  expect(origin).toEqual(originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c11'))
  expect(origin.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(origin.spanId).toMatch(/^[0-9a-f]{16}$/)
  const other = originOf('6f8f1d9e-2f55-4f1c-9a43-0b9d6a8f7c12')
  expect([other.traceId, other.spanId]).not.toContain(origin.traceId)
  expect(other.spanId).not.toBe(origin.spanId)
})

test("a request named after a span of its caller's is of the caller's trace, with a span of its own", () => {
  const callers = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const origin = originOf(requestIdOf(callers))
  expect(origin.traceId).toBe(callers.traceId)
  expect(origin.spanId).not.toBe(callers.spanId)
})
