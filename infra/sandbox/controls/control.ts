import type { JsonObject } from '../json'
import type { ForcedStatus } from '../records'

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

/** Returns the statuses to force. Statuses that the body omits stay those of the record. */
export function forcedIn(body: JsonObject): ForcedStatus {
  const [status, listed] = [optionalText(body, 'status'), optionalText(body, 'listed')]
  return {
    ...(status === null ? {} : { status }),
    ...(listed === null ? {} : { listed }),
    ...(body.hidden === true ? { hidden: true as const } : {}),
  }
}
