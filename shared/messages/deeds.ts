import { Type } from 'typebox'
import { Uuid } from '#shared/messages/fields'
import { question, type ServiceName } from '#shared/messages/topic'

/** Fields of every operator command. */
export const deedFields = {
  /** Id of the recorded command. A repeat has no further effect. */
  deed: Uuid,
  by: Type.String({ minLength: 1, maxLength: 100 }),
  reason: Type.String({ minLength: 1, maxLength: 1_000 }),
}

/** Outcome as text for the operator: done (now or earlier), or refused. */
export const DeedOutcome = Type.Union([
  Type.Object({ done: Type.String() }),
  Type.Object({ refused: Type.String() }),
])

/**
 * Declares the question that pauses or resumes new operations. Operations in progress are not
 * affected. `revision`: that of the pause the operator saw, 0 if there never was one. Each change
 * makes another, in its own transaction, so a command that arrives late or twice changes nothing.
 */
export const pauseQuestion = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['ops'], {
    request: Type.Object({
      ...deedFields,
      to: Type.Enum(['paused', 'running']),
      revision: Type.Integer({ minimum: 0 }),
    }),
    answer: DeedOutcome,
    repeat: 'once by its key',
  })
export type PauseQuestion = ReturnType<typeof pauseQuestion>
