import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cashoutStates } from '../../../services/payouts/cashout'
import * as real from '../../../services/payouts/cashout.store'
import type { Cashout, NewCashout } from '../../../services/payouts/cashout.table'
import { type ScratchDatabase, startScratchDatabase } from '../../support/scratch-postgres'
import { type Choices, chance, oneOf, pick } from '../world/choices'
import { compare, type Maker, notCompared, type StoreCall, timeFrom, walletOf } from './agreement'
import * as standIns from './cashouts'

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('payouts')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallets = [1, 2, 3].map(walletOf)
const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const payouts = ['disb-1', 'disb-2', 'disb-3']
const nonces = ['0x01', '0x02', '0x03', '0x04', '0x05']

function cashoutFrom(choices: Choices): NewCashout {
  const [id, wallet] = [pick(choices, ids), pick(choices, wallets)]
  const authorizationNonce = pick(choices, nonces)
  return {
    id,
    wallet,
    state: 'opening',
    rateMinorPerUsd: 16_250n,
    ausdMicro: 5_000_000n,
    fiatMinor: 81_250n,
    quoteId: `q-${id}`,
    requestFingerprint: 'p',
    authorizer: wallet,
    authorizationNonce,
    authorization: {} as never,
    channelCode: 'ID_BCA',
    bankDetails: 'sealed',
    bankDetailsKeyId: 'key',
    accountMark: 'mark',
    nextCheckAt: timeFrom(choices) as never,
  }
}

function changeFrom(choices: Choices): object {
  const all: object[] = [
    { providerPayoutId: pick(choices, payouts), providerStatus: 'ACCEPTED' },
    { reason: pick(choices, ['balance_too_low', null]), failureCode: 'X' },
    { takeTxHash: '0xab', returnTxHash: null },
    { paidAt: timeFrom(choices) },
    { payoutApi: pick(choices, ['v2', 'v3', null]) },
    { heldByOperator: pick(choices, [true, false]) },
  ]
  return Object.assign({ failureCode: null }, ...all.filter(() => chance(choices, 400)))
}

/** Returns the fields of a cash-out that the statement uses. */
const known = (choices: Choices): Partial<Cashout> => ({
  id: pick(choices, ids),
  state: pick(choices, cashoutStates),
  attempts: oneOf(choices, 2),
  payoutApi: pick(choices, ['v2', 'v3', null] as const),
})

const makers: readonly Maker[] = [
  ...Array.from(
    { length: 3 },
    () =>
      (choices: Choices): StoreCall => ({
        name: 'insertCashout',
        given: [cashoutFrom(choices)],
      }),
  ),
  (choices) => ({ name: 'findCashout', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'lockCashout', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'findPaidAs', given: [pick(choices, payouts)] }),
  (choices) => ({
    name: 'findOwners',
    given: [[pick(choices, ids)], [pick(choices, payouts), pick(choices, payouts)]],
  }),
  (choices) => ({
    name: 'findRivals',
    given: [`q-${pick(choices, ids)}`, pick(choices, wallets), pick(choices, nonces)],
  }),
  ...Array.from(
    { length: 6 },
    () =>
      (choices: Choices): StoreCall => ({
        name: 'moveCashout',
        given: [
          pick(choices, ids),
          pick(choices, cashoutStates),
          { ...changeFrom(choices), nextCheckAt: timeFrom(choices) },
        ],
      }),
  ),
  ...(['moveAhead', 'moveLocked'] as const).flatMap((name) =>
    Array.from(
      { length: 3 },
      () =>
        (choices: Choices): StoreCall => ({
          name,
          given: [
            pick(choices, ids),
            pick(choices, cashoutStates),
            { ...changeFrom(choices), nextCheckAt: timeFrom(choices) },
            ...(name === 'moveLocked' ? [[]] : []),
          ],
        }),
    ),
  ),
  (choices) => ({ name: 'recordCashout', given: [pick(choices, ids), changeFrom(choices)] }),
  (choices) => ({ name: 'leaseDue', given: [100, pick(choices, [30_000, 7_200_000])] }),
  (choices) => ({ name: 'endChecks', given: [known(choices)] }),
  (choices) => ({
    name: 'countAttempt',
    given: [known(choices), pick(choices, ['v2', 'v3'])],
  }),
  (choices) => ({
    name: 'moveToAttempt',
    given: [known(choices), pick(choices, ['v2', 'v3']), timeFrom(choices)],
  }),
]
const compared = { real, standIns, makers, silent: ['endChecks'] }

test.each([1, 2, 3])(
  'random calls of seed %d for cash-outs return the same from Postgres and from memory',
  async (seed) => {
    const { database } = scratch
    await database.run((db) => db.execute('truncate payouts.payouts'))
    await compare(database, compared, seed)
  },
)

test('every stand-in of the store of cash-outs is compared, or returns a constant', () => {
  const sums = [
    'wasPaidTo',
    'sumDayTo',
    'sumTaking',
    'sumToday',
    'lockClosedMarket',
    'sumClosedOfDay',
    'lockAllCashouts',
    'sumAllOfDay',
  ]
  expect(notCompared(compared)).toEqual(['lockWallet', 'lockAccount', ...sums].sort())
})
