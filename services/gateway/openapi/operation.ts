import type { TSchema } from 'typebox'
import type { Route } from '#shared/api/route'

const json = (schema: TSchema, example: unknown) => ({
  content: { 'application/json': { schema, example } },
})

function contentOf({ answer, example: { answer: example, text = {} } }: Route) {
  const others = Object.entries(text).map(([type, shown]) => [type, { schema: { type: 'string' }, example: shown }])
  const content = {
    ...(example === undefined ? {} : json(answer, example).content),
    ...Object.fromEntries(others),
  }
  return Object.keys(content).length > 0 ? { content } : {}
}

/** Errors that a route has by its access and its body. Every route also has 431 and 500. */
function errorsOf({ access, body, errors = [] }: Route): number[] {
  const busy = access === 'probe' ? [429] : [429, 503]
  const refused = access === 'signed' || access === 'delivery' ? [401] : []
  const unread = body ? [400, 408, 413, 415] : []
  return [...new Set([...busy, ...refused, ...unread, ...errors])].sort((left, right) => left - right)
}

const acceptLanguage = { $ref: '#/components/parameters/AcceptLanguage' }
const contentLanguage = { $ref: '#/components/headers/ContentLanguage' }
const etagHeader = {
  description: 'Identifies exactly this body.',
  schema: { type: 'string', examples: ['"Zk3nT0a7yQm1c5VbXw9uRdZk3nT"'] },
}
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: '`ETag` of the response that the app already has.',
  schema: { type: 'string' },
}
const headersOf = ({ tagged, worded }: Route) => ({
  ...(tagged ? { ETag: etagHeader } : {}),
  ...(worded ? { 'Content-Language': contentLanguage } : {}),
})

const unchanged = {
  description: 'Unchanged since the response named in `If-None-Match`; no body.',
}

/** Returns the route's part of the document. The route itself validates requests. */
export function operation(route: Route) {
  const { summary, description, tag, access, proof, body, example, returns } = route
  const security = access === 'signed' ? 'session' : proof
  const parameters = [
    ...(route.parameters ?? []),
    ...(route.tagged ? [ifNoneMatch] : []),
    ...(tag === 'webhooks' ? [] : [acceptLanguage]),
  ]
  const headers = headersOf(route)
  const refused = [...errorsOf(route), 431, 500].map((status) => [status, { $ref: `#/components/responses/${status}` }])
  const detail = {
    summary,
    ...(description ? { description } : {}),
    tags: [tag],
    security: security ? [{ [security]: [] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, ...json(body, example.body) } } : {}),
    responses: {
      200: {
        description: returns,
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
        ...contentOf(route),
      },
      ...(route.tagged ? { 304: { ...unchanged, headers } } : {}),
      ...Object.fromEntries(refused),
    },
  }
  // The plugin's types cover only OpenAPI 3.0; it passes this object through.
  return { parse: 'none' as const, detail: detail as object }
}

export const undocumented = { parse: 'none' as const, detail: { hide: true } }
