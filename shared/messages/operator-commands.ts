import { Type } from 'typebox'
import { Uuid } from '#shared/messages/fields'
import { question, type ServiceName } from '#shared/messages/topic'

export const operatorCommandFields = {
  /** Id of the command. A repeat with the same id has no further effect. */
  command: Uuid,
  by: Type.String({ minLength: 1, maxLength: 100 }),
  reason: Type.String({ minLength: 1, maxLength: 1_000 }),
}

/** Text for the operator: the command is done (now or earlier), or refused. */
export const CommandOutcome = Type.Union([
  Type.Object({ done: Type.String() }),
  Type.Object({ refused: Type.String() }),
])

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
    repeat: 'once by its key',
  })
export type PauseQuestion = ReturnType<typeof pauseQuestion>
