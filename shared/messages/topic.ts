import type { Static, StaticDecode, TSchema } from 'typebox'
import { Type } from 'typebox'
import { type Answer, refusalCodes } from '#shared/refusals'

export const serviceNames = [
  'gateway',
  'pricing',
  'payments',
  'payouts',
  'chain-relayer',
  'indexer-reader',
] as const
export type ServiceName = (typeof serviceNames)[number]

/** Processes with a bus user: the services, and the operators' process. */
export const processNames = [...serviceNames, 'operations'] as const
export type ProcessName = (typeof processNames)[number]

/**
 * All bus users: the processes, the operator, the console, a user of `operations` that only subscribes, and
 * the integrator, whose push service reads events.
 */
export const busUsers = [...processNames, 'ops', 'console', 'integrator'] as const
export type BusUser = (typeof busUsers)[number]

/**
 * A message of a stream. Only its owner publishes an event; `relay` commands list their publishers.
 */
export type Topic<S extends TSchema = TSchema, M = unknown> = {
  readonly subject: string
  readonly schema: S
  readonly stream: 'WEBHOOKS' | 'COMMANDS' | 'EVENTS'
  readonly publishers: readonly ServiceName[]
  /** Only its type is used: for a generic function, to decode `S` costs a million instantiations. */
  readonly message?: M
}
/** A message as its reader receives it: addresses in lower case. */
export type Message<T extends Topic> = T['message'] & {}

/** Callers of a question: services and the operator. */
export type Asker = ServiceName | 'ops'

/** A request/reply operation, handled by `owner` through the NATS services API. */
export type Question<Q extends TSchema = TSchema, A extends TSchema = TSchema> = {
  readonly subject: string
  readonly request: Q
  readonly answer: A
  readonly owner: ProcessName
  readonly askers: readonly Asker[]
  /** Without it, a question is only sent to one instance of its owner. */
  readonly repeat?: Repeat
}
/**
 * Why a question may be repeated to another instance while the first may still answer it: it
 * `changes nothing`, or its effect happens `once by its key`, however often and wherever it is
 * repeated.
 */
export type Repeat = 'changes nothing' | 'once by its key'
/** A request as its caller sends it: addresses in any case. */
export type RequestOf<Q extends Question> = Static<Q['request']>
/** A request as its owner receives it: addresses in lower case. */
export type ReadRequestOf<Q extends Question> = StaticDecode<Q['request']>
/** An answer as its owner sends it, `{ ok }` or `{ refused }`: addresses in any case. */
export type AnswerOf<Q extends Question> = Answer<Static<Q['answer']>>
/** An answer as the caller receives it. */
export type ReadAnswerOf<Q extends Question> = Answer<StaticDecode<Q['answer']>>

/** A delivery of a provider, stored by the gateway; its subjects begin with `subject`. */
export const webhook = <S extends TSchema>(
  subject: string,
  schema: S,
): Topic<S, StaticDecode<S>> => ({ subject, schema, stream: 'WEBHOOKS', publishers: ['gateway'] })

export const command = <S extends TSchema>(
  subject: string,
  publishers: readonly ServiceName[],
  schema: S,
): Topic<S, StaticDecode<S>> => ({ subject, schema, stream: 'COMMANDS', publishers })

export const event = <S extends TSchema>(
  subject: string,
  owner: ServiceName,
  schema: S,
): Topic<S, StaticDecode<S>> => ({
  subject,
  schema,
  stream: 'EVENTS',
  publishers: [owner],
})

export const question = <Q extends TSchema, A extends TSchema>(
  subject: string,
  owner: ProcessName,
  askers: readonly Asker[],
  terms: { request: Q; answer: A; repeat?: Repeat },
): Question<Q, A> => ({ subject, owner, askers, ...terms })

/** Returns the wire schema of an answer: a value, or a code of the refusal table. */
export const answerSchema = (answer: TSchema) =>
  Type.Union([
    Type.Object({ ok: answer }),
    Type.Object({
      refused: Type.Enum(refusalCodes as [string, ...string[]]),
      since: Type.Optional(Type.String()),
    }),
  ])
