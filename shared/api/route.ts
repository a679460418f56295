import type { Static, StaticDecode, TSchema } from 'typebox'

/**
 * One operation of the public interface. The gateway validates and documents requests by it, and
 * the client is built from it, so the two cannot diverge.
 */
export type Route<
  P extends string = string,
  B extends TSchema | null = TSchema | null,
  A extends TSchema = TSchema,
> = {
  readonly method: 'GET' | 'POST'
  /** Path in router syntax: `/verify/:wallet`. */
  readonly path: P
  /** Signed routes require the session of a wallet. */
  readonly access: 'public' | 'signed'
  /** Schema of the request body; null: none. */
  readonly body: B
  /** Schema of a successful response. */
  readonly answer: A
}
/** Request body as a client writes it: addresses in any case. */
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
/** Response as a client reads it: addresses and hashes are `0x…`, in lower case. */
export type AnswerOf<R extends Route> = StaticDecode<R['answer']>

/** Declares a route, preserving the types of its schemas. */
export const route = <P extends string, B extends TSchema | null, A extends TSchema>(
  given: Route<P, B, A>,
): Route<P, B, A> => given
