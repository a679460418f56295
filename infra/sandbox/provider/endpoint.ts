import type { Account } from '../account'
import type { Context } from '../context'
import type { hasForm } from '../ids'
import type { JsonObject } from '../json'

/** Request that has a valid key. */
export type ProviderCall = {
  readonly account: Account
  readonly headers: Headers
  readonly query: URLSearchParams
  readonly body: JsonObject
  /** Returns an id of the path. Throws for an id of another kind, as observed at the provider. */
  id(kind: Parameters<typeof hasForm>[0]): string
}

export type HttpAnswer = { readonly status?: number; readonly body: unknown }

export type ProviderEndpoint = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly run: (context: Context, call: ProviderCall) => HttpAnswer
}
