import type { Static, StaticDecode, TSchema } from 'typebox'

/** Gateway, documents and client are built from it, so they cannot diverge. */
export type Route<P extends string = string, B extends TSchema | null = TSchema | null, A extends TSchema = TSchema> = {
  readonly method: 'GET' | 'POST'
  /** Router syntax: `/verify/:wallet`. */
  readonly path: P
  readonly access: 'public' | 'signed'
  readonly body: B
  readonly answer: A
}
/** As a client writes it: addresses in any case. */
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
/** As a client reads it: addresses and hashes in lower case. */
export type RouteAnswer<R extends Route> = StaticDecode<R['answer']>

export const route = <P extends string, B extends TSchema | null, A extends TSchema>(
  given: Route<P, B, A>,
): Route<P, B, A> => given
