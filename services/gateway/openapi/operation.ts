import type { TSchema } from 'typebox'

/** Description of a route for the document only; the route itself validates requests. */
type OperationDoc = {
  summary: string
  description?: string
  tag: 'quotes' | 'account' | 'money' | 'record' | 'webhooks' | 'operations'
  security?: 'session' | 'callbackToken' | 'identitySignature'
  body?: { schema: TSchema; example: unknown }
  parameters?: readonly object[]
  /** Success response. Without a schema it is not JSON. */
  ok: {
    description: string
    schema?: TSchema
    example?: unknown
    /** Examples in formats other than JSON, by content type. */
    text?: Readonly<Record<string, string>>
  }
  /** True if texts are in the language of the request. */
  worded?: true
  /** True if the response has an ETag and honours If-None-Match. */
  tagged?: true
  /** Error statuses; every route also has 431 and 500. */
  errors: readonly (400 | 401 | 403 | 404 | 413 | 415 | 429 | 503)[]
}

const json = (schema: TSchema, example: unknown) => ({
  content: { 'application/json': { schema, example } },
})

function contentOf({ schema, example, text = {} }: OperationDoc['ok']) {
  const others = Object.entries(text).map(([type, shown]) => [type, { schema: { type: 'string' }, example: shown }])
  const content = {
    ...(schema ? json(schema, example).content : {}),
    ...Object.fromEntries(others),
  }
  return Object.keys(content).length > 0 ? { content } : {}
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
const headersOf = ({ tagged, worded }: OperationDoc) => ({
  ...(tagged ? { ETag: etagHeader } : {}),
  ...(worded ? { 'Content-Language': contentLanguage } : {}),
})

const unchanged = {
  description: 'Unchanged since the response named in `If-None-Match`; no body.',
}

export function operation(words: OperationDoc) {
  const { summary, description, tag, security, body, ok, errors } = words
  const parameters = [
    ...(words.parameters ?? []),
    ...(words.tagged ? [ifNoneMatch] : []),
    ...(tag === 'webhooks' ? [] : [acceptLanguage]),
  ]
  const headers = headersOf(words)
  const refused = [...errors, 431, 500].map((status) => [status, { $ref: `#/components/responses/${status}` }])
  const detail = {
    summary,
    ...(description ? { description } : {}),
    tags: [tag],
    security: security ? [{ [security]: [] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, ...json(body.schema, body.example) } } : {}),
    responses: {
      200: {
        description: ok.description,
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
        ...contentOf(ok),
      },
      ...(words.tagged ? { 304: { ...unchanged, headers } } : {}),
      ...Object.fromEntries(refused),
    },
  }
  // The plugin's types cover only OpenAPI 3.0; it passes this object through.
  return { parse: 'none' as const, detail: detail as object }
}

export const undocumented = { parse: 'none' as const, detail: { hide: true } }

export const exampleAuthorization = {
  from: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  to: '0x1111111111111111111111111111111111111111',
  value: '5000000',
  validAfter: '0',
  validBefore: '1795246200',
  nonce: `0x${'5a'.repeat(32)}`,
  signature: `0x${'1b'.repeat(65)}`,
}

/** Example of a record. The debt keeps its age after a reversal, so the third cycle has the second's opening time. */
export const exampleRecord = {
  account: '0x9B2EF1c1a7F0e3D2C4b5A6978877665544332211',
  verified: true,
  score: '10',
  ratioBps: '5250',
  cycles: 2,
  defaulted: false,
  history: {
    score: '10',
    cycleCount: 2,
    repayCount: 1,
    cyclesOpened: 3,
    defaulted: false,
    verifiedAt: '1795244400',
    firstSeenAt: '1795244400',
    cycles: [
      {
        number: 1,
        outcome: 'Qualified',
        openedAt: '1795248000',
        dueAt: '1797840000',
        closedAt: '1795507200',
        peakDrawn: '1000000',
        totalRepaid: '1000000',
        scoreAfter: '10',
        openTxHash: `0x${'a1'.repeat(32)}`,
        closeTxHash: `0x${'b2'.repeat(32)}`,
      },
      {
        number: 2,
        outcome: 'Reversed',
        openedAt: '1795510800',
        dueAt: '1798102800',
        closedAt: '1795683600',
        peakDrawn: '2000000',
        totalRepaid: '0',
        scoreAfter: '10',
        openTxHash: `0x${'c3'.repeat(32)}`,
        closeTxHash: `0x${'d4'.repeat(32)}`,
      },
      {
        number: 3,
        outcome: null,
        openedAt: '1795510800',
        dueAt: '1798102800',
        closedAt: null,
        peakDrawn: '2000000',
        totalRepaid: '0',
        scoreAfter: null,
        openTxHash: `0x${'e5'.repeat(32)}`,
        closeTxHash: null,
      },
    ],
  },
  indexer: 'ok',
}
