import type { Static, StaticDecode, TSchema } from 'typebox'
import { Type } from 'typebox'
import { type Answer, refusalCodes } from '#shared/refusals'

export const serviceNames = ['gateway', 'pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader'] as const
export type ServiceName = (typeof serviceNames)[number]

export const processNames = [...serviceNames, 'operations'] as const
export type ProcessName = (typeof processNames)[number]

/** `console` is a user of `operations` that only subscribes; `integrator` is the push service. */
export const busUsers = [...processNames, 'ops', 'console', 'integrator'] as const
export type BusUser = (typeof busUsers)[number]

/** Only its owner publishes an event; `relay` commands list their publishers. */
export type Topic<S extends TSchema = TSchema, M = unknown> = {
  readonly subject: string
  readonly schema: S
  readonly stream: 'WEBHOOKS' | 'COMMANDS' | 'EVENTS'
  readonly publishers: readonly ServiceName[]
  /** Only its type is used: decoding `S` in generic functions costs a million instantiations. */
  readonly message?: M
}
/** As its reader receives it: addresses in lower case. */
export type Message<T extends Topic> = T['message'] & {}

export type Asker = ServiceName | 'ops'

/** Request/reply, handled by `owner` through the NATS services API. */
export type Question<Q extends TSchema = TSchema, A extends TSchema = TSchema> = {
  readonly subject: string
  readonly request: Q
  readonly answer: A
  readonly owner: ProcessName
  readonly askers: readonly Asker[]
  /** By default a question goes to one instance only. */
  readonly repeat?: Repeat
}
/** Why a question may be repeated to another instance while the first may still answer. */
type Repeat = 'changes nothing' | 'once by its key'
/** As its caller sends it: addresses in any case. */
export type RequestOf<Q extends Question> = Static<Q['request']>
/** As its owner receives it: addresses in lower case. */
export type ReadRequestOf<Q extends Question> = StaticDecode<Q['request']>
/** As its owner sends it: addresses in any case. */
export type AnswerOf<Q extends Question> = Answer<Static<Q['answer']>>
/** As its caller receives it. */
export type ReadAnswerOf<Q extends Question> = Answer<StaticDecode<Q['answer']>>

/** Stored by the gateway; its subjects begin with `subject`. */
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
  terms: { request: Q; answer: A; repeat?: Repeat },
): Question<Q, A> => ({ subject, owner, askers, ...terms })

export const answerSchema = (answer: TSchema) =>
  Type.Union([
    Type.Object({ ok: answer }),
    Type.Object({
      refused: Type.Enum(refusalCodes as [string, ...string[]]),
      since: Type.Optional(Type.String()),
    }),
  ])
