import type { Static, StaticDecode, TSchema } from 'typebox'

/** Parameter of a path, a query or a header, in the form of OpenAPI. */
export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: true
  readonly description?: string
  readonly schema: object
}

/**
 * Who may call a route: anybody, an app that starts, a signed-in wallet, a provider with its own proof, or a probe of the
 * operator.
 */
type Access = 'public' | 'start' | 'signed' | 'delivery' | 'probe'

/** A route, from which gateway, documents and client are built, so that they cannot diverge. */
export type Route<
  P extends string = string,
  B extends TSchema | null = TSchema | null,
  A extends TSchema = TSchema,
  X extends Access = Access,
> = {
  readonly method: 'GET' | 'POST'
  /** Path in the syntax of the router: `/verify/:wallet`. */
  readonly path: P
  readonly access: X
  readonly tag: 'quotes' | 'account' | 'money' | 'record' | 'webhooks' | 'operations'
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly body: B
  readonly answer: A
  /** What a success returns. */
  readonly returns: string
  readonly example: {
    readonly body?: unknown
    readonly answer?: unknown
    /** Answers in other formats than JSON, by content type. Without `answer`, there is no JSON. */
    readonly text?: Readonly<Record<string, string>>
  }
  /** Errors besides those that `access` and `body` bring. */
  readonly errors?: readonly (400 | 403 | 404 | 503)[]
  /** Proof of a delivery. */
  readonly proof?: 'callbackToken' | 'identitySignature'
  /** True if texts are in the language of the request. */
  readonly worded?: true
  /** True if the response has an ETag and honours If-None-Match. */
  readonly tagged?: true
}
/** The body as a client writes it, with addresses in any case. */
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
/** The body as a handler reads it, with addresses and hashes in lower case. */
export type ReadBodyOf<R extends Route> = R['body'] extends TSchema ? StaticDecode<R['body']> : undefined
/** The answer as a client reads it, with addresses and hashes in lower case. */
export type RouteAnswer<R extends Route> = StaticDecode<R['answer']>

export const route = <P extends string, B extends TSchema | null, A extends TSchema, X extends Access>(
  given: Route<P, B, A, X>,
): Route<P, B, A, X> => given
