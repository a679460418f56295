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

/** Whoever has a user of the bus: the services, and the job of the books, which tells its figures. */
export const processNames = [...serviceNames, 'books'] as const
export type ProcessName = (typeof processNames)[number]

/** Whoever logs in at the bus: the processes, the person who operates, and the console, which listens. */
export const busUsers = [...processNames, 'ops', 'console'] as const
export type BusUser = (typeof busUsers)[number]

/** A message in a stream. `owner` alone publishes an event; `relay` commands name who may order. */
export type Topic<S extends TSchema = TSchema> = {
  readonly subject: string
  readonly schema: S
  readonly stream: 'WEBHOOKS' | 'COMMANDS' | 'EVENTS'
  readonly publishers: readonly ServiceName[]
}
/** A message as it is read: addresses in lower case. */
export type Message<T extends Topic> = StaticDecode<T['schema']>

/** Who may ask a question: services, and who operates. */
export type Asker = ServiceName | 'ops'

/** A question over request/reply, answered by `owner` through the NATS services API. */
export type Question<Q extends TSchema = TSchema, A extends TSchema = TSchema> = {
  readonly subject: string
  readonly request: Q
  readonly answer: A
  readonly owner: ServiceName
  readonly askers: readonly Asker[]
  /** Without it, a question is asked of one copy of its owner alone. */
  readonly repeat?: Repeat
}
/**
 * Why a question may be asked of another copy while the first may still answer it: it `changes
 * nothing`, or what it does is done `once by its key`, however often and wherever it is asked at once.
 */
export type Repeat = 'changes nothing' | 'once by its key'
/** A request as it is asked; addresses in any case. */
export type RequestOf<Q extends Question> = Static<Q['request']>
/** A request as its owner reads it: addresses in lower case. */
export type ReadRequestOf<Q extends Question> = StaticDecode<Q['request']>
/** What the owner answers, `{ ok }` or `{ refused }`; addresses in any case. */
export type AnswerOf<Q extends Question> = Answer<Static<Q['answer']>>
/** An answer as the asker reads it. */
export type ReadAnswerOf<Q extends Question> = Answer<StaticDecode<Q['answer']>>

export const command = <S extends TSchema>(
  subject: string,
  publishers: readonly ServiceName[],
  schema: S,
): Topic<S> => ({ subject, schema, stream: 'COMMANDS', publishers })

export const event = <S extends TSchema>(
  subject: string,
  owner: ServiceName,
  schema: S,
): Topic<S> => ({
  subject,
  schema,
  stream: 'EVENTS',
  publishers: [owner],
})

export const question = <Q extends TSchema, A extends TSchema>(
  subject: string,
  owner: ServiceName,
  askers: readonly Asker[],
  terms: { request: Q; answer: A; repeat?: Repeat },
): Question<Q, A> => ({ subject, owner, askers, ...terms })

/** The wire form of an answer: a value, or a code of the table of refusals. */
export const answerSchema = (answer: TSchema) =>
  Type.Union([
    Type.Object({ ok: answer }),
    Type.Object({
      refused: Type.Enum(refusalCodes as [string, ...string[]]),
      since: Type.Optional(Type.String()),
    }),
  ])
