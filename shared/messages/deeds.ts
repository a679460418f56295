import { Type } from 'typebox'
import { Uuid } from '#shared/messages/fields'
import { question, type ServiceName } from '#shared/messages/topic'

/** What an operator's command says with everything that it asks to be done. */
export const deedFields = {
  /** Of the deed as it was written down: the same again is done once. */
  deed: Uuid,
  by: Type.String({ minLength: 1, maxLength: 100 }),
  reason: Type.String({ minLength: 1, maxLength: 1_000 }),
}

/** What came of it, in words for a person: it is done, now or before, or it was not done. */
export const DeedOutcome = Type.Union([
  Type.Object({ done: Type.String() }),
  Type.Object({ refused: Type.String() }),
])

/** Stops what begins anew of something, or lets it go on; what began is not touched. */
export const pauseQuestion = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['ops'], {
    request: Type.Object({ ...deedFields, to: Type.Enum(['paused', 'running']) }),
    answer: DeedOutcome,
    repeat: 'once by its key',
  })
export type PauseQuestion = ReturnType<typeof pauseQuestion>
