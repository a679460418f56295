import type { Static, StaticDecode, TSchema } from 'typebox'
import { Type } from 'typebox'
import { type Answer, refusalCodes } from '#shared/refusals'

export const serviceNames = ['gateway', 'pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader'] as const
export type ServiceName = (typeof serviceNames)[number]

export const processNames = [...serviceNames, 'operations'] as const
export type ProcessName = (typeof processNames)[number]

/** Users of the bus. `console` is a user of `operations` that only subscribes; `integrator` is the push service. */
export const busUsers = [...processNames, 'ops', 'console', 'integrator'] as const
export type BusUser = (typeof busUsers)[number]

/** A subject of a stream. Only its owner publishes an event; `relay` commands list their publishers. */
export type Topic<S extends TSchema = TSchema, M = unknown> = {
  readonly subject: string
  readonly schema: S
  readonly stream: 'WEBHOOKS' | 'COMMANDS' | 'EVENTS'
  readonly publishers: readonly ServiceName[]
  /**
   * Type of the message, of which no value exists. Decoding `S` in generic functions would cost a million
   * instantiations.
   */
  readonly message?: M
}
/** A message as its reader receives it, with addresses in lower case. */
export type Message<T extends Topic> = T['message'] & {}

export type Asker = ProcessName | 'ops'

/** A request with a response, handled by `owner` through the NATS services API. */
export type Question<Q extends TSchema = TSchema, A extends TSchema = TSchema> = {
  readonly subject: string
  readonly request: Q
  readonly answer: A
  readonly owner: ProcessName
  readonly askers: readonly Asker[]
  /**
   * Whether an operator's command may give money away. Each one states it, and the handler of one that does counts its sum;
   * a command without it always needs two operators.
   */
  readonly gives?: Gives
  /** Reason why the request may be repeated; by default it goes to one instance only. */
  readonly repeat?: Repeat
}
type Gives = 'money' | 'nothing'
/** Reason why a request may be repeated to another instance while the first may still answer. */
type Repeat = 'changes nothing' | 'once by its key'
/** A request as its caller sends it, with addresses in any case. */
export type RequestOf<Q extends Question> = Static<Q['request']>
/** A request as its owner receives it, with addresses in lower case. */
export type ReadRequestOf<Q extends Question> = StaticDecode<Q['request']>
/** A response as its owner sends it, with addresses in any case. */
export type AnswerOf<Q extends Question> = Answer<Static<Q['answer']>>
/** A response as its caller receives it. */
export type ReadAnswerOf<Q extends Question> = Answer<StaticDecode<Q['answer']>>

/** Returns the topic of webhooks, which the gateway stores; its subjects begin with `subject`. */
export const webhook = <S extends TSchema>(subject: string, schema: S): Topic<S, StaticDecode<S>> => ({
  subject,
  schema,
  stream: 'WEBHOOKS',
  publishers: ['gateway'],
})

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
  terms: { request: Q; answer: A; gives?: Gives; repeat?: Repeat },
): Question<Q, A> => ({ subject, owner, askers, ...terms })

export const answerSchema = (answer: TSchema) =>
  Type.Union([
    Type.Object({ ok: answer }),
    Type.Object({
      refused: Type.Enum(refusalCodes as [string, ...string[]]),
      since: Type.Optional(Type.String()),
    }),
  ])
