import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia } from 'elysia'
import { errorSchema, failureResponses } from './failures.ts'

type Json = Record<string, unknown>

const about = {
  title: 'Stablecoin top-up, settlement and cash-out service',
  version: '1.0.0',
  description: [
    'Money in and money out answer at once; the money lands later. Poll `GET /me` or',
    '`GET /me/activity`. Amounts are strings of digits in the smallest unit: AUSD has 6 decimals,',
    'MYR is in sen, IDR has none.',
  ].join(' '),
}

const tags = [
  { name: 'quotes', description: 'Exchange rates, locked for 60 seconds.' },
  { name: 'account', description: 'The signed-in user.' },
  { name: 'money', description: 'Top-ups, settlements, cash-outs and sends.' },
  { name: 'record', description: 'The public credit record.' },
  { name: 'webhooks', description: 'Called by the providers, not by the app.' },
  { name: 'operations', description: 'Health and figures.' },
]

const apiKey = (name: string, description: string) => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

const securitySchemes = {
  session: apiKey(
    'Authorization',
    '`Service <wallet>.<until>.<signature>`: the personal_sign signature of three lines, "Sign ' +
      'in to Service", the wallet in lower case, "until <until>". At most 7 days ahead.',
  ),
  callbackToken: apiKey('x-callback-token', 'Says which provider account is calling.'),
  identitySignature: apiKey(
    'x-payload-digest',
    'HMAC of the raw body, as Sumsub signs it; Persona signs in `Persona-Signature`.',
  ),
}

/**
 * The OpenAPI 3.1 document of the routes, as text. The plugin gathers the paths on an instance that
 * nobody can reach: its own page would load scripts from the internet.
 */
export async function openApiDocument(routes: AnyElysia, publicUrl: string): Promise<string> {
  const path = '/gathered.json'
  const gatherer = new Elysia()
    .use(swagger({ path: '/gathered', specPath: path, documentation: { info: about } }))
    .use(routes)
  const response = await gatherer.handle(new Request(`http://localhost${path}`))
  const { paths } = (await response.json()) as { paths: Json }
  return JSON.stringify({
    openapi: '3.1.0',
    info: about,
    servers: [{ url: publicUrl }],
    tags,
    paths: inWords(paths),
    components: { schemas: { Error: errorSchema }, responses: failureResponses, securitySchemes },
  })
}

/** Our schemas' own keyword `says` becomes the `description` that readers of the document know. */
function inWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inWords)
  if (typeof value !== 'object' || value === null) return value
  const { says, ...rest } = value as Json
  const words =
    typeof says === 'string' ? { description: says } : says === undefined ? {} : { says }
  return Object.fromEntries(
    Object.entries({ ...words, ...rest }).map(([key, inner]) => [key, inWords(inner)]),
  )
}
