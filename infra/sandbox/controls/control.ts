import { jsonObject } from '#platform/schema'
import { isOfOtherOrigin } from '#shared/api/origin'
import { type Call, type JsonObject, param, type SandboxRoute } from '../route'

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
  readonly method: SandboxRoute['method']
  readonly path: string
  readonly run: (id: string, body: JsonObject) => unknown
}

export const controlRoutes = (controls: readonly Control[]): SandboxRoute[] =>
  controls.map(({ method, path, run }) => ({
    method,
    path,
    async run(request) {
      try {
        if (isOfOtherOrigin(request)) throw new Refusal(403, 'requests from other origins are not allowed')
        return Response.json((await run(param(request, 'id'), await bodyOf(request))) ?? {})
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return Response.json({ error: error.message }, { status: error.status })
      }
    },
  }))

async function bodyOf(request: Call): Promise<JsonObject> {
  const text = request.method === 'GET' ? '' : await request.text()
  if (text.trim() === '') return {}
  const body = jsonObject(text)
  if (body) return body
  throw new Refusal(400, 'the body must be a JSON object')
}

export function optionalText(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null
  if (value === null || typeof value === 'string') return value
  throw new Refusal(400, `${name} must be a string`)
}
