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
  /** The answer has an ETag, and is 304 to whoever has it already. */
  tagged?: true
  /** Besides 431 and 500, which every operation may answer. */
  errors: readonly (400 | 401 | 403 | 413 | 429 | 503)[]
}

const json = (schema: TSchema, example: unknown) => ({
  content: { 'application/json': { schema, example } },
})

const etagHeader = {
  description: 'Stands for these very bytes.',
  schema: { type: 'string', examples: ['"Zk3nT0a7yQm1c5VbXw9uRdZk3nT"'] },
}
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: '`ETag` of the answer that the app already has.',
  schema: { type: 'string' },
}
const unchanged = {
  description: 'Nothing has changed since the answer that `If-None-Match` names; no body.',
  headers: { ETag: etagHeader },
}

/** The hooks of a route: its words in the document, and no parsing by the router. */
export function operation(words: Operation) {
  const { summary, description, tag, security, body, ok, errors } = words
  const parameters = [...(words.parameters ?? []), ...(words.tagged ? [ifNoneMatch] : [])]
  const refused = [...errors, 431, 500].map((status) => [
    status,
    { $ref: `#/components/responses/${status}` },
  ])
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
        ...(words.tagged ? { headers: { ETag: etagHeader } } : {}),
        ...(ok.schema ? json(ok.schema, ok.example) : {}),
      },
      ...(words.tagged ? { 304: unchanged } : {}),
      ...Object.fromEntries(refused),
    },
  }
  // The plugin's types know OpenAPI 3.0 alone; what it passes on is this object.
  return { parse: 'none' as const, detail: detail as object }
}

/** A route that is no part of the documented interface: the documentation itself. */
export const undocumented = { parse: 'none' as const, detail: { hide: true } }

/** A signed transfer as the document shows it; the signature is shortened to one value repeated. */
export const exampleAuthorization = {
  from: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  to: '0x1111111111111111111111111111111111111111',
  value: '5000000',
  validAfter: '0',
  validBefore: '1795246200',
  nonce: `0x${'5a'.repeat(32)}`,
  signature: `0x${'1b'.repeat(65)}`,
}

/**
 * A public record as the document shows it: a qualified cycle, and one whose money was taken back. The debt
 * that came back is as old as it was, so the third cycle opened when the second did.
 */
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
