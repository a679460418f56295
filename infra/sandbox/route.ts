import type { BunRequest } from 'bun'

export type SandboxRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly run: (request: Call) => Response | Promise<Response>
}

export type Call = BunRequest<string>

type Table = Record<string, Partial<Record<SandboxRoute['method'], SandboxRoute['run']>>>

/** Returns the routes as Bun.serve expects them: by path, then by method. */
export function routeTable(routes: readonly SandboxRoute[]): Table {
  const table: Table = {}
  for (const { method, path, run } of routes) table[path] = { ...table[path], [method]: run }
  return table
}

export const param = (call: Call, name: string): string =>
  decodeURIComponent((call.params as Record<string, string>)[name] ?? '')
