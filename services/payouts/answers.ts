import type { Handler } from '#platform/bus/serve'
import { answerAccountCheck } from './account-check/check'
import type { Context } from './context'
import { answerErase } from './person/erase'
import { answerActivity, answerEnding, answerItem, answerOwed } from './queries/activity'
import { answerLimit, answerPublicConfig } from './queries/public-config'
import { answerStatement } from './queries/statement'
import { answerPayoutsPause, openCashouts } from './request/open'
import { answerOperatorCommands } from './request/operator-commands'
import { answerRefusals } from './request/refusal'

export const answersOf = (context: Context): Handler[] => [
  openCashouts(context),
  answerAccountCheck(context),
  answerPublicConfig(context),
  answerLimit(context),
  answerActivity(context),
  answerItem(context),
  answerStatement(context),
  answerOwed(context),
  answerPayoutsPause(context),
  ...answerOperatorCommands(context),
  ...answerRefusals(context),
  answerEnding(context),
  answerErase(context),
]
