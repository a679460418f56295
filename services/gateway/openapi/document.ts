import { swagger } from '@elysiajs/swagger'
import { type AnyElysia, Elysia } from 'elysia'
import {
  type ErrorCode,
  errorCodeHeader,
  errorCodes,
  type GeneralCode,
  generalRefusals,
  type RefusalCode,
  refusals,
} from '#shared/refusals'

type Json = Record<string, unknown>

const about = {
  title: 'Stablecoin top-up, settlement and cash-out service',
  version: '1.0.0',
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
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
    ...named(published(paths) as Json),
  })
}

/**
 * Every schema with a title becomes a component of that name, and is referred to where it stood; what it
 * says `about` that place stands beside the reference.
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
      throw new Error(`two schemas of the interface are called ${title}`)
    schemas[title] = schema
    const $ref = `#/components/schemas/${title}`
    return typeof about === 'string' ? { description: about, $ref } : { $ref }
  }
  const named = walk(paths)
  return {
    paths: named,
    components: { schemas: byName(schemas), responses: failureResponses, securitySchemes },
  }
}

const byName = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).sort(([left], [right]) => (left < right ? -1 : 1)))

/** Without our own keyword `says`, which refusals quote, and with the type of each closed list of words. */
function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published)
  if (typeof value !== 'object' || value === null) return value
  const { says, ...rest } = value as Json
  const { enum: words } = rest
  const areTexts = Array.isArray(words) && words.every((word) => typeof word === 'string')
  const kept = typeof says === 'string' || says === undefined ? rest : { ...rest, says }
  return Object.fromEntries(
    Object.entries(areTexts ? { type: 'string', ...kept } : kept).map(([key, inner]) => [
      key,
      published(inner),
    ]),
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
  [
    413,
    'The body is larger than 64 KiB. Above 1 MiB the server itself answers, without a body or x-error-code.',
    'the body is larger than 64 KiB',
  ],
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
  'Retry-After': {
    description: 'When to send it again: so many seconds from now.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
}

/** All words of one status, each with the sentence it stands for where it has but one. */
const wordsOf = (status: number): ErrorCode[] =>
  errorCodes.filter((code) => statusOf(code) === status)
const statusOf = (code: ErrorCode): number =>
  code in refusals ? refusals[code as RefusalCode].status : generalRefusals[code as GeneralCode]

const errorCodeHeaderOf = (status: number) => ({
  [errorCodeHeader]: {
    description: 'The stable word for programs; the sentence of the body may change.',
    required: status !== 413,
    schema: { type: 'string', enum: wordsOf(status) },
  },
})

const examplesOf = (status: number, general: string) =>
  Object.fromEntries(
    wordsOf(status).map((code) => {
      const message = code in refusals ? refusals[code as RefusalCode].message : general
      return [code, { summary: message, value: { error: message } }]
    }),
  )

/** What the server itself refuses, before any of our words. */
const headersTooLarge = { description: 'The headers are larger than 16 KiB; no body.' }

/** Shared answers of the document, by status. */
export const failureResponses = Object.fromEntries([
  ['431', headersTooLarge],
  ...failures.map(([status, description, example]) => [
    String(status),
    {
      description,
      headers: {
        ...errorCodeHeaderOf(status),
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

/** The one form of every refusal. */
const errorSchema = {
  title: 'Error',
  type: 'object',
  description: 'A refusal; the header x-error-code has the word for programs.',
  required: ['error'],
  properties: { error: { type: 'string', description: 'A sentence the app may show.' } },
}
