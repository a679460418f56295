import { jsonObject } from '#platform/schema'
import { isOfOtherOrigin } from '#shared/api/origin'
import type { JsonObject } from '../json'
import { type Call, param, type SandboxRoute } from '../route'
import { type Control, Refusal } from './control'

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
