import type { Static, StaticDecode, TSchema } from 'typebox'

/**
 * One operation of the public interface. The gateway checks and describes requests by it, and a client
 * is made from it: what one of them says and what the other expects cannot come to differ.
 */
export type Route<
  P extends string = string,
  B extends TSchema | null = TSchema | null,
  A extends TSchema = TSchema,
> = {
  readonly method: 'GET' | 'POST'
  /** As the router spells it: `/verify/:wallet`. */
  readonly path: P
  /** Signed routes want the session of a wallet. */
  readonly access: 'public' | 'signed'
  /** Null: the request has no body. */
  readonly body: B
  /** What every success is answered with. */
  readonly answer: A
}
/** A body as a client writes it: addresses in any case. */
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined
/** An answer as a client reads it: addresses and hashes are `0x…`, in lower case. */
export type AnswerOf<R extends Route> = StaticDecode<R['answer']>

/** Declares a route, with the types of its schemas kept. */
export const route = <P extends string, B extends TSchema | null, A extends TSchema>(
  given: Route<P, B, A>,
): Route<P, B, A> => given
