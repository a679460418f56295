import { afterAll, beforeAll, expect, test } from 'bun:test'
import { autoRepayFailures, autoRepaySources, reminderKinds } from '#shared/messages/credit'
import * as tries from '../../../services/gateway/reminders/auto-repay.store'
import * as reminders from '../../../services/gateway/reminders/reminder.store'
import { type ScratchDatabase, startScratchDatabase } from '../../support/scratch-postgres'
import { type Choices, oneOf, pick } from '../world/choices'
import { compare, hourMs, type Maker, notCompared, walletOf } from './agreement'
import * as standIns from './reminders'

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('gateway')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallets = [1, 2].map(walletOf)
const tryFrom = (choices: Choices) => ({
  wallet: pick(choices, wallets),
  cycle: 1 + oneOf(choices, 3),
  attempt: oneOf(choices, 4),
})
const endings = [
  { outcome: 'repaid', reason: null, txHash: '0xab', ausdMicro: 5n, source: 'wallet' },
  { outcome: 'repaid', reason: null, txHash: '0xab', ausdMicro: null, source: null },
  { outcome: 'needless', reason: null, txHash: null },
]

const makers: readonly Maker[] = [
  (choices) => ({
    name: 'insertTry',
    given: [
      {
        ...tryFrom(choices),
        plannedAt: oneOf(choices, 9),
        ausdMicro: BigInt(oneOf(choices, 9)),
        source: pick(choices, autoRepaySources),
      },
    ],
  }),
  (choices) => ({ name: 'findPlanned', given: [pick(choices, wallets), 1 + oneOf(choices, 3)] }),
  (choices) => ({ name: 'endTry', given: [tryFrom(choices), pick(choices, endings), new Date()] }),
  (choices) => ({
    name: 'endTry',
    given: [
      tryFrom(choices),
      { outcome: 'failed', reason: pick(choices, autoRepayFailures), txHash: null },
      new Date(),
    ],
  }),
  (choices) => ({ name: 'findUnanswered', given: [pick(choices, [0, hourMs]), 100] }),
  (choices) => ({ name: 'findSent', given: [pick(choices, wallets), 1 + oneOf(choices, 3)] }),
  (choices) => ({
    name: 'insertReminder',
    given: [{ wallet: pick(choices, wallets), cycle: 1 + oneOf(choices, 3), kind: pick(choices, reminderKinds) }],
  }),
]
const compared = { real: { ...tries, ...reminders }, standIns, makers, silent: [] }

test.each([1, 2, 3])(
  'random calls of seed %d for automatic repayments and reminders return the same from Postgres and from memory',
  async (seed) => {
    const { database } = scratch
    await database.run((db) => db.execute('truncate gateway.auto_repayments, gateway.reminders'))
    await compare(database, compared, seed)
  },
)

test('every stand-in of the stores of automatic repayments and reminders is compared', () => {
  expect(notCompared(compared)).toEqual([])
})
