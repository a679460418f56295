import { AsyncLocalStorage } from 'node:async_hooks'
import { underTraceOf } from '#platform/tracing/spans'

const current = new AsyncLocalStorage<string>()

/** In HTTP and in messages: the request that caused the work. */
export const requestIdHeader = 'X-Request-Id'

/** Undefined outside of a request. */
export const requestId = (): string | undefined => current.getStore()

/** Also continues the request's trace if tracing is on. */
export const withRequestId = <T>(id: string | undefined, work: () => T): T =>
  id ? current.run(id, () => underTraceOf(id, work)) : work()
