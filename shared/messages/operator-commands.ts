import { type Static, Type } from 'typebox'
import { Amount, Timestamp, Uuid } from '#shared/messages/fields'
import { type Question, question, type ReadRequestOf, type ServiceName } from '#shared/messages/topic'

/**
 * What a command gives away, as its service counts it and its operators sign it. `micro` is the sum (10⁻⁶ AUSD), or null if
 * it is unknown; `to` is the wallet or account that gets it. `seen` names the state that was shown, unless the request itself
 * does. The signatures count until `until`.
 */
export const Terms = Type.Object({
  micro: Type.Union([Amount, Type.Null()]),
  to: Type.String({ maxLength: 100 }),
  seen: Type.String({ maxLength: 100 }),
  until: Timestamp,
})
export type Terms = Static<typeof Terms>

/** What a command gives away now: the terms without their end. */
export type Worth = {
  /** 10⁻⁶ AUSD; null if the sum is unknown. */
  readonly micro: bigint | null
  readonly to: string
  readonly seen: string
}

/** Returns what a request would give away now. Undefined if its target is unknown, so that its handler refuses it. */
export type WorthOf<Q extends Question = Question> = (request: ReadRequestOf<Q>) => Promise<Worth | undefined>

/** One line without characters that a terminal obeys: whoever approves a command sees every character of it. */
const plain = '^[^\\p{Cc}\\p{Bidi_Control}]+$'

const operatorName = { minLength: 1, maxLength: 100, pattern: plain }

const OperatorSignature = Type.Object({
  by: Type.String(operatorName),
  signature: Type.String({ pattern: '^0x[0-9a-fA-F]{130}$' }),
})
export type OperatorSignature = Static<typeof OperatorSignature>

/** Terms with the signatures of one operator or two. The first is that of the operator whom the request names. */
export const Approval = Type.Object({
  terms: Terms,
  signatures: Type.Array(OperatorSignature, { minItems: 1, maxItems: 2 }),
})
export type Approval = Static<typeof Approval>

export const operatorCommandFields = {
  /** Id of the command. A repeat with the same id has no further effect. */
  command: Uuid,
  by: Type.String(operatorName),
  reason: Type.String({ minLength: 1, maxLength: 1_000, pattern: plain }),
  /** Omitted if the deployment names no operators, and in the request that asks for the terms. */
  approval: Type.Optional(Approval),
}

/**
 * Text for the operator: the command is done (now or earlier), or refused. A command that lacks a signature is refused with
 * the terms to sign, and with the number of operators who must.
 */
export const CommandOutcome = Type.Union([
  Type.Object({ done: Type.String() }),
  Type.Object({
    refused: Type.String(),
    unsigned: Type.Optional(Type.Object({ terms: Terms, operators: Type.Enum([1, 2]) })),
  }),
])

/** Returns true if the request is a command of an operator, which changes something. */
export const isOperatorCommand = ({ request, askers }: Question): boolean =>
  askers.includes('ops') && 'command' in ((request as { properties?: object }).properties ?? {})

/**
 * Returns the command that pauses or resumes an operation of `owner`; operations in progress continue. `revision` is
 * that of the pause that the operator saw, or 0 if there was none. Each change makes another, so a late or repeated
 * command changes nothing. `country` pauses the operation in one country alone.
 */
export const pauseQuestion = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['ops'], {
    request: Type.Object({
      ...operatorCommandFields,
      to: Type.Enum(['paused', 'running']),
      country: Type.Optional(Type.Enum(['ID', 'MY'])),
      revision: Type.Integer({ minimum: 0 }),
    }),
    answer: CommandOutcome,
    gives: 'nothing',
    repeat: 'once by its key',
  })
export type PauseQuestion = ReturnType<typeof pauseQuestion>
