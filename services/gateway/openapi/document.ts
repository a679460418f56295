import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia } from 'elysia'
import { refusals } from '#shared/declared-refusals'
import { type ErrorCode, errorCodeHeader, errorCodes, type RefusalCode, statusOf } from '#shared/refusals'

type Json = Record<string, unknown>

const about = {
  title: 'Stablecoin top-up, settlement and cash-out service',
  version: '1.0.0',
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  description: [
    'Money requests return at once; the money settles later. Poll `GET /me` or `GET /me/activity`.',
    'Amounts are strings of digits in the smallest unit: AUSD has 6 decimals, MYR is in sen, IDR',
    'has none.',
  ].join(' '),
}

const tags = [
  { name: 'quotes', description: 'Exchange rates, locked for 60 seconds.' },
  { name: 'account', description: 'The signed-in user.' },
  { name: 'money', description: 'Top-ups, settlements, cash-outs and sends.' },
  { name: 'record', description: 'The public credit record.' },
  { name: 'webhooks', description: 'Called by the providers, not by the app.' },
  { name: 'operations', description: 'Health and client configuration.' },
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
      'in to Service", the wallet in lower case, and "until <until>" with a unix time at most 7 ' +
      'days ahead.',
  ),
  callbackToken: apiKey('x-callback-token', 'Token of the provider account that is calling.'),
  identitySignature: apiKey(
    'x-payload-digest',
    'HMAC of the raw body as signed by Sumsub; Persona uses `Persona-Signature`.',
  ),
}

/**
 * Builds the document. The plugin's instance serves no requests, because its own page would load scripts from
 * the internet.
 */
export async function openApiDocument(routes: AnyElysia, publicUrl: string): Promise<string> {
  const path = '/gathered.json'
  const collector = new Elysia()
    .use(swagger({ path: '/gathered', specPath: path, documentation: { info: about } }))
    .use(routes)
  const response = await collector.handle(new Request(`http://localhost${path}`))
  const { paths } = (await response.json()) as { paths: Json }
  return JSON.stringify({
    openapi: '3.1.0',
    info: about,
    servers: [{ url: publicUrl }],
    tags,
    ...named(published(paths) as Json),
  })
}

/**
 * Moves schemas to named components. A schema's `about` describes one use of it, so it becomes the
 * description of that reference.
 */
function named(paths: Json) {
  const schemas: Json = { Error: errorSchema }
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]))
    const { title } = inner
    if (typeof title !== 'string') return inner
    const { about, ...schema } = inner
    const known = schemas[title]
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two different schemas have the title ${title}: rename one`)
    schemas[title] = schema
    const $ref = `#/components/schemas/${title}`
    return typeof about === 'string' ? { description: about, $ref } : { $ref }
  }
  const named = walk(paths)
  return {
    paths: named,
    components: {
      schemas: byName(schemas),
      responses: failureResponses,
      parameters,
      headers,
      securitySchemes,
    },
  }
}

const byName = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).sort(([left], [right]) => (left < right ? -1 : 1)))

/**
 * Returns true if every language's regular expressions have what a pattern uses. Go's (RE2) and pydantic's lack look-arounds,
 * JavaScript's escapes and empty negation, and counts above 1,000.
 */
const isPortable = (pattern: string): boolean =>
  !/\(\?|\\[pPuxkbB1-9]|\[\^?\]/.test(pattern) &&
  [...pattern.matchAll(/\{(?:\d+,)?(\d+)\}/g)].every(([, most]) => Number(most) <= 1_000)

/**
 * Removes our own keywords, and adds the type to string enums. A pattern that is not portable becomes a format: the
 * description says what it allows.
 */
function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published)
  if (typeof value !== 'object' || value === null) return value
  const { says, saysUnknown: _, pattern, ...others } = value as Json
  const isLost = typeof pattern === 'string' && !isPortable(pattern)
  const rest: Json = { ...others, ...(isLost ? { format: says } : pattern !== undefined && { pattern }) }
  const { enum: words } = rest
  const areTexts = Array.isArray(words) && words.every((word) => typeof word === 'string')
  const kept = typeof says === 'string' || says === undefined ? rest : { ...rest, says }
  return Object.fromEntries(
    Object.entries(areTexts ? { type: 'string', ...kept } : kept).map(([key, inner]) => [key, published(inner)]),
  )
}

const language = { $ref: '#/components/schemas/Language' }
const headers = {
  ContentLanguage: { description: 'Language of the texts in the response.', schema: language },
}
const parameters = {
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description:
      'Language of `error` and of every `sentence`: `en` (default), `id` or `ms`, with quality values and ' +
      'regions as in RFC 9110. Anything else is English.',
    schema: { type: 'string', examples: ['id-ID, id;q=0.9, en;q=0.8'] },
  },
}

/** Errors by status, description and example message. */
const failures: readonly [number, string, string][] = [
  [400, 'The request is invalid or was refused by a rule; the message gives the reason.', 'amount is missing'],
  [
    401,
    'The session is missing, expired, or has a bad signature: sign again.',
    'the session has expired: sign in again',
  ],
  [
    403,
    'The account is not verified, or is frozen because a payment was reversed or may be.',
    'verify your identity first',
  ],
  [404, 'The wallet has no such item.', 'You have no item with this id.'],
  [408, 'The body did not arrive in time; nothing was processed.', 'the body did not arrive in time'],
  [
    413,
    'The body is larger than 64 KiB. Above 1 MiB the response has no body and no x-error-code.',
    'the body is larger than 64 KiB',
  ],
  [
    415,
    'The body is compressed or encoded in another way.',
    'Content-Encoding is not supported: send the body as it is',
  ],
  [
    429,
    'Too many requests, or a daily limit was reached; Retry-After has the wait in seconds.',
    'too many requests, slow down',
  ],
  [500, 'Internal error; it was logged.', 'something went wrong'],
  [
    503,
    'A dependency is not responding, funds are insufficient, or the operation is paused; ' +
      'Retry-After has the wait in seconds.',
    'the service is busy, try again',
  ],
]

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
}

const wordsOf = (status: number): ErrorCode[] => errorCodes.filter((code) => statusOf(code) === status)

const errorCodeHeaderOf = (status: number) => ({
  [errorCodeHeader]: {
    description: 'Stable error code; the message in the body may change.',
    required: status !== 413,
    schema: { type: 'string', enum: wordsOf(status) },
  },
})

const examplesOf = (status: number, general: string) =>
  Object.fromEntries(
    wordsOf(status).map((code) => {
      const message = code in refusals ? refusals[code as RefusalCode].text.en : general
      return [code, { summary: message, value: { error: message } }]
    }),
  )

/** Error of the HTTP server itself, so without our body or error code. */
const headersTooLarge = { description: 'The headers are larger than 16 KiB; no body.' }

const failureResponses = Object.fromEntries([
  ['431', headersTooLarge],
  ...failures.map(([status, description, example]) => [
    String(status),
    {
      description,
      headers: {
        ...errorCodeHeaderOf(status),
        'Content-Language': { $ref: '#/components/headers/ContentLanguage' },
        ...(status === 429 || status === 503 ? retryAfter : {}),
      },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: examplesOf(status, example),
        },
      },
    },
  ]),
])

const errorSchema = {
  title: 'Error',
  type: 'object',
  description: 'An error; the x-error-code header has the stable code.',
  required: ['error'],
  properties: {
    error: {
      type: 'string',
      description: 'A message the app may show, in the language of the request.',
    },
  },
}
