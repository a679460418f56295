import { AsyncLocalStorage } from 'node:async_hooks'
import { underTraceOf } from '#shared/tracing/spans'

const current = new AsyncLocalStorage<string>()

/** The header, in HTTP and in messages, that ties one request's traces together. */
export const requestIdHeader = 'X-Request-Id'

/** The id of the request being worked on, for logs and message headers; undefined outside of one. */
export const requestId = (): string | undefined => current.getStore()

/** Works under the id of a request, and as part of its trace, where traces are made. */
export const withRequestId = <T>(id: string | undefined, work: () => T): T =>
  id ? current.run(id, () => underTraceOf(id, work)) : work()
