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
  [429, 'Too many requests; Retry-After says for how long.', 'too many requests, slow down'],
  [500, 'A fault of the service; it was logged.', 'something went wrong'],
  [
    503,
    'Something the service depends on does not answer; Retry-After says when to try again.',
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
