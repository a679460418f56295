import { AsyncLocalStorage } from 'node:async_hooks'
import { underTraceOf } from '#platform/tracing/spans'

const current = new AsyncLocalStorage<string>()

/** Header, in HTTP and in messages, that names the request that caused the work. */
export const requestIdHeader = 'X-Request-Id'

/** Returns the id of the current request, or undefined outside of one. */
export const requestId = (): string | undefined => current.getStore()

/** Runs work under a request id, and continues the request's trace if tracing is on. */
export const withRequestId = <T>(id: string | undefined, work: () => T): T =>
  id ? current.run(id, () => underTraceOf(id, work)) : work()
