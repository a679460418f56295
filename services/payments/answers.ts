import type { Handler } from '#platform/bus/serve'
import { answerCancellations } from './checkout/cancel'
import { answerSettlements } from './checkout/settlement'
import { answerTopups } from './checkout/topup'
import type { Context } from './context'
import { answerActivity, answerItem } from './queries/activity'
import { answerLimit, answerTerms } from './queries/public-config'
import { answerStatement } from './queries/statement'
import { answerDeeds } from './review/operator-commands'

export const answersOf = (context: Context): Handler[] => [
  answerTopups(context),
  answerSettlements(context),
  answerCancellations(context),
  answerTerms(context),
  answerLimit(context),
  answerActivity(context),
  answerItem(context),
  answerStatement(context),
  ...answerDeeds(context),
]
