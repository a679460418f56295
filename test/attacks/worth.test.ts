import { expect, test } from 'bun:test'
import type { Handler } from '#platform/bus/serve'
import { questions } from '#shared/messages/catalogue'
import { isOperatorCommand } from '#shared/messages/operator-commands'
import { answersOf as chainRelayer } from '../../services/chain-relayer/questions/answers'
import { answersOf as payments } from '../../services/payments/answers'
import { answersOf as payouts } from '../../services/payouts/answers'

const commands = questions.filter(isOperatorCommand)
const handlers: Handler[] = [...payments({} as never), ...payouts({} as never), ...chainRelayer({} as never)]

test('each command of operators says whether it gives money away', () => {
  expect(commands.length).toBeGreaterThan(15)
  expect(commands.filter(({ gives }) => gives === undefined).map(({ subject }) => subject)).toEqual([])
})

test('each command that gives money away is counted by its handler, and no other', () => {
  const counted = handlers.filter(({ worth }) => worth).map(({ question }) => question.subject)
  const giving = commands.filter(({ gives }) => gives === 'money').map(({ subject }) => subject)
  expect(counted.sort()).toEqual(giving.sort())
})
