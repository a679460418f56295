import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia } from 'elysia'

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

/** The answers of every refusal, by status: words for the document, and an example of each. */
const failures: readonly [number, string, string][] = [
  [400, 'The request was wrong, or refused by a rule; the message says why.', 'amount is missing'],
  [
    401,
    'No session, a bad signature, or an expired one: sign again.',
    'the session has expired: sign in again',
  ],
  [
    403,
    'The account is not verified, or frozen because a payment of it was taken back.',
    'verify your identity first',
  ],
  [413, 'The body is larger than 64 KiB.', 'the body is larger than 64 KiB'],
  [
    429,
    'Too many requests, or too much for one day; Retry-After says for how long.',
    'too many requests, slow down',
  ],
  [500, 'A fault of the service; it was logged.', 'something went wrong'],
  [
    503,
    'Something the service depends on does not answer, or there is not enough to keep what would be ' +
      'promised; Retry-After says when to try again.',
    'the service is busy, try again',
  ],
]

const retryAfter = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
}

/** Shared answers of the document, by status. */
export const failureResponses = Object.fromEntries(
  failures.map(([status, description, example]) => [
    String(status),
    {
      description,
      ...(status === 429 || status === 503 ? { headers: retryAfter } : {}),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: { error: example },
        },
      },
    },
  ]),
)

/** The one form of every refusal. */
export const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string', description: 'A sentence the app may show.' } },
}
