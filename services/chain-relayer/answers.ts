import type { Answering } from '#shared/bus/serve'
import { readAnswers } from './account.responder'
import { activityAnswers } from './activity.responder'
import type { Desk } from './questions'
import { sendAnswers } from './send.responder'

/** Every question this service answers. */
export const answersOf = (desk: Desk): Answering[] => [
  ...readAnswers(desk),
  ...sendAnswers(desk),
  ...activityAnswers(desk),
]
