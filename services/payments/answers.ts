import type { Handler } from '#platform/bus/serve'
import { answerCancellations } from './checkout/cancel'
import { answerSettlements } from './checkout/settlement'
import { answerTopups } from './checkout/topup'
import type { Context } from './context'
import { answerActivity, answerItem } from './queries/activity'
import { answerFreeze, answerLimit, answerPublicConfig } from './queries/public-config'
import { answerStatement } from './queries/statement'
import { answerOperatorCommands } from './review/operator-commands'

export const answersOf = (context: Context): Handler[] => [
  answerTopups(context),
  answerSettlements(context),
  answerCancellations(context),
  answerPublicConfig(context),
  answerLimit(context),
  answerFreeze(context),
  answerActivity(context),
  answerItem(context),
  answerStatement(context),
  ...answerOperatorCommands(context),
]
