import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as real from '../../../services/chain-relayer/operations/operation.store'
import { type ScratchDatabase, startScratchDatabase } from '../../support/scratch-postgres'
import { type Choices, chance, oneOf, pick } from '../world/choices'
import { compare, hourMs, type Maker, notCompared, type StoreCall, timeFrom, walletOf } from './agreement'
import * as standIns from './operations'

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('chain-relayer')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const states = ['waiting', 'assigned', 'settled', 'failed'] as const
const kinds = ['credit', 'repay', 'revoke', 'take', 'verify', 'freeze', 'send', 'autorepay'] as const
const causes = ['pay-1', 'pay-2', 'pay-3']
const wallets = [1, 2].map(walletOf)
const nonces = ['0x01', '0x02', '0x03']
const ids = kinds.flatMap((kind) => causes.map((cause) => `${kind} ${cause}`))

/** Returns an order, whose id follows from kind and cause. */
function orderFrom(choices: Choices) {
  const [kind, cause] = [pick(choices, kinds), pick(choices, causes)]
  const isSigned = kind === 'take' || kind === 'send'
  const isVerdict = kind === 'verify' || kind === 'freeze'
  return {
    id: `${kind} ${cause}`,
    kind,
    cause,
    wallet: pick(choices, wallets),
    payload: { refId: pick(choices, causes), frozen: pick(choices, [true, false]) },
    contentHash: 'h',
    requestId: null,
    revision: isVerdict ? BigInt(oneOf(choices, 5)) : null,
    authorizationNonce: isSigned ? pick(choices, nonces) : null,
    leavesMicro: isSigned ? 5n : 0n,
  }
}

function changeFrom(choices: Choices): object {
  const all: object[] = [
    { txHash: '0xab', blockNumber: BigInt(oneOf(choices, 9)), blockHash: '0xcd' },
    { reason: pick(choices, ['balance_too_low', null]) },
    { lane: walletOf(9), nonce: oneOf(choices, 4) },
    { watchAt: timeFrom(choices) },
    { tries: oneOf(choices, 3) },
  ]
  return Object.assign({ reason: null }, ...all.filter(() => chance(choices, 400)))
}

const some = (choices: Choices): string[] => [...new Set([pick(choices, ids), pick(choices, ids)])]

const makers: readonly Maker[] = [
  ...Array.from(
    { length: 5 },
    () =>
      (choices: Choices): StoreCall => ({
        name: 'insertOperation',
        given: [orderFrom(choices)],
      }),
  ),
  (choices) => ({
    name: 'insertOperation',
    given: [orderFrom(choices), { state: 'failed', reason: 'balance_too_low' }],
  }),
  (choices) => ({ name: 'insertOperationAhead', given: [orderFrom(choices)] }),
  (choices) => ({ name: 'findOperation', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'findOperations', given: [some(choices)] }),
  (choices) => ({ name: 'blockOfRef', given: [pick(choices, causes)] }),
  ...Array.from(
    { length: 4 },
    () =>
      (choices: Choices): StoreCall => ({
        name: 'moveOperation',
        given: [pick(choices, ids), pick(choices, states), changeFrom(choices)],
      }),
  ),
  (choices) => ({
    name: 'moveOperationsAhead',
    given: [[pick(choices, ids)], pick(choices, states), changeFrom(choices), [pick(choices, states)]],
  }),
  (choices) => ({
    name: 'moveOperation',
    given: [pick(choices, ids), pick(choices, states), changeFrom(choices), [pick(choices, states)]],
  }),
  (choices) => ({
    name: 'postponeOperation',
    given: [pick(choices, ids), pick(choices, [hourMs, -hourMs]), oneOf(choices, 2), 'later'],
  }),
  ...Array.from(
    { length: 3 },
    () =>
      (choices: Choices): StoreCall => ({
        name: 'assignOperations',
        given: [some(choices), { lane: walletOf(9), nonce: oneOf(choices, 9) }],
      }),
  ),
  (choices) => ({ name: 'countRepeat', given: [pick(choices, ids)] }),
  () => ({ name: 'findDue', given: [100] }),
  () => ({ name: 'findUndecided', given: [100] }),
  (choices) => ({
    name: 'newestRevision',
    given: [{ kind: pick(choices, ['verify', 'freeze']), wallet: pick(choices, wallets) }],
  }),
  (choices) => ({ name: 'takeWatched', given: [100, pick(choices, [hourMs, 2 * hourMs])] }),
  (choices) => ({ name: 'findFailedTakes', given: [[pick(choices, wallets)]] }),
  (choices) => ({ name: 'endWatch', given: [pick(choices, ids)] }),
]
const compared = { real, standIns, makers, silent: ['postponeOperation'] }

test.each([1, 2, 3])(
  'random calls of seed %d for operations return the same from Postgres and from memory',
  async (seed) => {
    const { database } = scratch
    await database.run((db) => db.execute('truncate chain_relayer.operation'))
    await compare(database, compared, seed)
  },
)

test('every stand-in of the store of operations is compared', () => {
  expect(notCompared(compared)).toEqual([])
})
