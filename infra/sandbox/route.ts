import type { BunRequest } from 'bun'

/** One way in. The handler of a path gets its parameters through `request.params`. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly run: (request: Call) => Response | Promise<Response>
}

/** A request with the parameters of its path. */
export type Call = BunRequest<string>

/** A JSON object as it came in. */
export type JsonObject = Record<string, unknown>

type Table = Record<string, Partial<Record<Route['method'], Route['run']>>>

/** Groups routes the way Bun.serve wants them: path first, then method. */
export function routeTable(routes: readonly Route[]): Table {
  const table: Table = {}
  for (const { method, path, run } of routes) table[path] = { ...table[path], [method]: run }
  return table
}

/** A parameter of the path; empty when the path has none of that name. */
export const param = (call: Call, name: string): string =>
  decodeURIComponent((call.params as Record<string, string>)[name] ?? '')

/** Whether a JSON value is an object and not a list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
