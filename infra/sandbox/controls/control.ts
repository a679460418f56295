import type { JsonObject } from '../json'

/** Thrown for a request that gets `{ error }` with this status. */
export class Refusal extends Error {
  readonly status: 400 | 403 | 404 | 409

  constructor(status: 400 | 403 | 404 | 409, message: string) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}

export type Control = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly run: (id: string, body: JsonObject) => unknown
}

export function optionalText(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null
  if (value === null || typeof value === 'string') return value
  throw new Refusal(400, `${name} must be a string`)
}
