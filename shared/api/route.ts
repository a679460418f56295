import type { Static, StaticDecode, TSchema } from 'typebox'

/** A route, from which gateway, documents and client are built, so that they cannot diverge. */
export type Route<P extends string = string, B extends TSchema | null = TSchema | null, A extends TSchema = TSchema> = {
  readonly method: 'GET' | 'POST'
  /** Path in the syntax of the router: `/verify/:wallet`. */
  readonly path: P
  readonly access: 'public' | 'signed'
  readonly body: B
  readonly answer: A
}
/** The body as a client writes it, with addresses in any case. */
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
/** The answer as a client reads it, with addresses and hashes in lower case. */
export type RouteAnswer<R extends Route> = StaticDecode<R['answer']>

export const route = <P extends string, B extends TSchema | null, A extends TSchema>(
  given: Route<P, B, A>,
): Route<P, B, A> => given
