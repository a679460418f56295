import type { TSchema } from 'typebox'

/** How an operation is described; the route itself checks what it is sent. */
export type Operation = {
  summary: string
  description?: string
  tag: 'quotes' | 'account' | 'money' | 'record' | 'webhooks' | 'operations'
  security?: 'session' | 'callbackToken' | 'identitySignature'
  body?: { schema: TSchema; example: unknown }
  parameters?: readonly object[]
  /** Without a schema the answer is not JSON. */
  ok: { description: string; schema?: TSchema; example?: unknown }
  /** Besides 500, which every operation may answer. */
  errors: readonly (400 | 401 | 403 | 413 | 429 | 503)[]
}

const json = (schema: TSchema, example: unknown) => ({
  content: { 'application/json': { schema, example } },
})

/** The hooks of a route: its words in the document, and no parsing by the router. */
export function operation(words: Operation) {
  const { summary, description, tag, security, body, parameters, ok, errors } = words
  const refused = [...errors, 500].map((status) => [
    status,
    { $ref: `#/components/responses/${status}` },
  ])
  const detail = {
    summary,
    ...(description ? { description } : {}),
    tags: [tag],
    ...(security ? { security: [{ [security]: [] }] } : {}),
    ...(parameters ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, ...json(body.schema, body.example) } } : {}),
    responses: {
      200: {
        description: ok.description,
        ...(ok.schema ? json(ok.schema, ok.example) : {}),
      },
      ...Object.fromEntries(refused),
    },
  }
  // The plugin's types know OpenAPI 3.0 alone; what it passes on is this object.
  return { parse: 'none' as const, detail: detail as object }
}

/** A route that is no part of the documented interface: the documentation itself. */
export const undocumented = { parse: 'none' as const, detail: { hide: true } }
