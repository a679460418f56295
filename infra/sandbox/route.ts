import type { BunRequest } from 'bun'

/** Route of the sandbox. The handler reads path parameters from `request.params`. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly run: (request: Call) => Response | Promise<Response>
}

/** Request with the parameters of its path. */
export type Call = BunRequest<string>

/** JSON object from a request. */
export type JsonObject = Record<string, unknown>

type Table = Record<string, Partial<Record<Route['method'], Route['run']>>>

/** Groups routes as Bun.serve expects them: by path, then by method. */
export function routeTable(routes: readonly Route[]): Table {
  const table: Table = {}
  for (const { method, path, run } of routes) table[path] = { ...table[path], [method]: run }
  return table
}

/** Returns a path parameter, or an empty string if the path has none of that name. */
export const param = (call: Call, name: string): string =>
  decodeURIComponent((call.params as Record<string, string>)[name] ?? '')

/** Returns true if a JSON value is an object and not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
