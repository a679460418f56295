import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as checks from '../../../services/payments/incoming/check.store'
import * as losses from '../../../services/payments/losses/refund.store'
import { paymentStates } from '../../../services/payments/payment'
import * as stored from '../../../services/payments/payment.store'
import type { NewPayment, PaymentRow } from '../../../services/payments/payment.table'
import * as review from '../../../services/payments/review/resolution.store'
import * as limits from '../../../services/payments/treasury/sums.store'
import { type ScratchDatabase, startScratchDatabase } from '../../support/scratch-postgres'
import { type Choices, chance, oneOf, pick } from '../world/choices'
import { compare, hourMs, type Maker, notCompared, type StoreCall, timeFrom, walletOf } from './agreement'
import * as payments from './payments'
import * as refunds from './refunds'
import * as reviews from './review'

const real = { ...checks, ...losses, ...review, ...limits, ...stored }
const standIns = { ...refunds, ...reviews, ...payments }
/** Constant on purpose: their sums are tested on Postgres. */
const constant = ['countUnpaidSettlements', 'countCancelled', 'lockAllTopups', 'sumAllTopups']

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

const wallets = [1, 2, 3].map(walletOf)
const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const charges = ['py-1', 'py-2', 'py-3', 'py-4']
const requests = ['pr-1', 'pr-2']

function paymentFrom(choices: Choices): NewPayment {
  const isSettlement = chance(choices, 400)
  const id = pick(choices, ids)
  return {
    id,
    kind: isSettlement ? 'settlement' : 'topup',
    state: 'opening',
    wallet: pick(choices, wallets),
    pair: 'USD/IDR',
    currency: 'IDR',
    account: 'ID',
    rateMinorPerUsd: 16_250n,
    fiatMinor: 50_000n,
    ausdMicro: 3_076_923n,
    topupMicro: isSettlement ? 0n : 3_076_923n,
    quoteId: `q-${id}`,
    requestFingerprint: 'p',
    nextCheckAt: timeFrom(choices),
  }
}

function changeFrom(choices: Choices): Partial<PaymentRow> {
  const all: Partial<PaymentRow>[] = [
    { checkoutUrl: 'https://pay.example', checkoutId: `ps-${oneOf(choices, 4)}` },
    { paymentRequestId: pick(choices, requests) },
    { providerPaymentId: pick(choices, charges), paidAt: timeFrom(choices), paidMinor: 50_000n },
    { onchainMicro: BigInt(oneOf(choices, 4)) * 1_000_000n, creditedAt: timeFrom(choices) },
    { reason: pick(choices, ['awaiting_rate', 'paid_late', null] as never[]) },
    { expiresAt: timeFrom(choices) },
    { refundedMinor: BigInt(oneOf(choices, 3)) * 25_000n - 25_000n },
    { lostHold: pick(choices, ['frozen', 'cleared', null]), holdEndedAt: timeFrom(choices) },
    { recoveredMicro: 1_000_000n, writtenOffMicro: 5n, leftMicro: 7n },
  ]
  return Object.assign({}, ...all.filter(() => chance(choices, 350)))
}

/** Returns few states for each row, so that moves often find it in theirs. None leads back to `opening`. */
const statesOf = (id: string) => {
  const first = 1 + ids.indexOf(id) * 2
  return paymentStates.slice(first, first + 4)
}

function reportFrom(choices: Choices) {
  return {
    id: `r-${oneOf(choices, 4)}`,
    paymentId: pick(choices, ['', ...ids]),
    providerPaymentId: pick(choices, charges),
    refundedMinor: BigInt(oneOf(choices, 3)),
    status: pick(choices, ['pending', 'succeeded', 'dead', 'unknown'] as const),
    origin: pick(choices, ['refund', 'ordered'] as const),
    ...(chance(choices, 300) ? { objectId: 'rfd-1' } : {}),
  }
}

function ordersFrom(choices: Choices) {
  return Array.from({ length: 1 + oneOf(choices, 2) }, () => ({
    reference: `ordered-${oneOf(choices, 6)}`,
    paymentId: pick(choices, ids),
    account: 'ID' as const,
    currency: 'IDR' as const,
    providerPaymentId: pick(choices, charges),
    minor: 25_000n,
    isSecond: chance(choices, 500),
  }))
}

const orderFrom = (choices: Choices) => ({ reference: `ordered-${oneOf(choices, 6)}`, requests: oneOf(choices, 2) })

const now = () => new Date()
const makers: readonly Maker[] = [
  (choices) => ({ name: 'insertPayment', given: [paymentFrom(choices), hourMs] }),
  (choices) => ({ name: 'insertPayment', given: [paymentFrom(choices), -hourMs] }),
  (choices) => ({ name: 'findByQuote', given: [`q-${pick(choices, ids)}`] }),
  (choices) => ({ name: 'failIfStored', given: [`q-${pick(choices, ids)}`] }),
  (choices) => ({ name: 'findPayment', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'findUnsettled', given: [pick(choices, wallets)] }),
  (choices) => ({
    name: 'findByProviderIds',
    given: [
      {
        account: pick(choices, ['ID', 'MY']),
        paymentId: pick(choices, charges),
        paymentRequestId: pick(choices, [...requests, null]),
      },
    ],
  }),
  (choices) => ({
    name: 'findOwned',
    given: [
      'ID',
      {
        paymentIds: [pick(choices, charges)],
        requestIds: [pick(choices, requests)],
        ids: [pick(choices, ids)],
      },
    ],
  }),
  (choices) => ({ name: 'findByCheckout', given: ['ID', `ps-${oneOf(choices, 4)}`] }),
  (choices) => ({
    name: 'leaseOpening',
    given: [pick(choices, ids), pick(choices, [hourMs, -hourMs])],
  }),
  ...Array.from({ length: 24 }, () => (choices: Choices): StoreCall => {
    const id = pick(choices, ids)
    const from = pick(choices, ['opening', ...statesOf(id)])
    const to = pick(choices, statesOf(id))
    const nextCheckAt = timeFrom(choices)
    return {
      name: 'movePayment',
      given: [id, { from, to, nextCheckAt, set: changeFrom(choices) }],
    }
  }),
  // Postgres refuses an update that sets nothing.
  (choices) => ({
    name: 'recordPayment',
    given: [pick(choices, ids), { writtenOffMicro: 5n, ...changeFrom(choices) }],
  }),
  () => ({ name: 'isDue', given: [now()] }),
  (choices) => ({
    name: 'leaseDue',
    given: [
      now(),
      pick(choices, checks.checkKinds),
      100,
      { listed: pick(choices, [[], ['ID']]), leaseMs: pick(choices, [7_500, 30_000]) },
    ],
  }),
  (choices) => ({ name: 'sumTopups', given: [pick(choices, wallets), now()] }),
  (choices) => ({ name: 'lastRepaidAt', given: [pick(choices, wallets)] }),
  (choices) => ({
    name: 'sumRepaying',
    given: [pick(choices, wallets), timeFrom(choices) ?? now()],
  }),
  (choices) => ({ name: 'recordReport', given: [reportFrom(choices)] }),
  (choices) => ({ name: 'recordReport', given: [reportFrom(choices)] }),
  (choices) => ({
    name: 'leaseLooks',
    given: [now(), { retryAt: timeFrom(choices) ?? now(), rowsMax: oneOf(choices, 3) }],
  }),
  (choices) => ({ name: 'planLook', given: [`r-${oneOf(choices, 4)}`, timeFrom(choices)] }),
  (choices) => ({
    name: 'planLookAfterMiss',
    given: [{ ...reportFrom(choices), updatedAt: new Date(0) } as never, timeFrom(choices)],
  }),
  (choices) => ({ name: 'planLookBy', given: [`r-${oneOf(choices, 4)}`, timeFrom(choices) ?? now()] }),
  (choices) => ({ name: 'endVoid', given: [`r-${oneOf(choices, 4)}`] }),
  (choices) => ({ name: 'findReports', given: [pick(choices, charges)] }),
  (choices) => ({ name: 'findReportsById', given: [['r-0', `r-${oneOf(choices, 4)}`]] }),
  (choices) => ({ name: 'findOtherReports', given: [pick(choices, ids), pick(choices, charges)] }),
  (choices) => ({
    name: 'storeReversal',
    given: [
      {
        paymentId: pick(choices, ids),
        wallet: pick(choices, wallets),
        lostMicro: BigInt(oneOf(choices, 4)),
        isOurs: oneOf(choices, 2) === 0,
      },
    ],
  }),
  (choices) => ({ name: 'findReversal', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'findMissing', given: [pick(choices, wallets)] }),
  (choices) => ({ name: 'findNeedless', given: [pick(choices, wallets)] }),
  (choices) => ({ name: 'addMadeGood', given: [pick(choices, ids), BigInt(oneOf(choices, 2))] }),
  (choices) => ({ name: 'clearMissing', given: [pick(choices, wallets)] }),
  (choices) => ({ name: 'reclaimMissing', given: [[pick(choices, ids)]] }),
  (choices) => ({ name: 'reclaimLostHolds', given: [[pick(choices, ids)]] }),
  (choices) => ({ name: 'recordCleared', given: [pick(choices, wallets), [pick(choices, ids)]] }),
  (choices) => ({ name: 'hasLostHold', given: [pick(choices, wallets)] }),
  (choices) => ({ name: 'clearLostHolds', given: [pick(choices, wallets)] }),
  (choices) => ({ name: 'findWallet', given: [pick(choices, wallets)] }),
  (choices) => ({
    name: 'storeFreeze',
    given: [
      {
        wallet: pick(choices, wallets),
        frozen: chance(choices, 500),
        frozenByOperator: pick(choices, [true, false, undefined]),
        nowMs: 1_000 + oneOf(choices, 5),
        retryAt: timeFrom(choices) ?? now(),
      },
    ],
  }),
  (choices) => ({
    name: 'confirmFreeze',
    given: [pick(choices, wallets), BigInt(1_000 + oneOf(choices, 9))],
  }),
  () => ({ name: 'findDueWallets', given: [now(), 100] }),
  (choices) => ({ name: 'insertOrders', given: [ordersFrom(choices)] }),
  (choices) => ({ name: 'countOrders', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'findOrders', given: [pick(choices, ids)] }),
  (choices) => ({ name: 'countRequest', given: [orderFrom(choices)] }),
  (choices) => ({ name: 'uncountRequest', given: [orderFrom(choices)] }),
  (choices) => ({ name: 'findOrder', given: [orderFrom(choices).reference] }),
  (choices) => ({ name: 'giveUpOrder', given: [orderFrom(choices)] }),
  (choices) => ({
    name: 'recordOrder',
    given: [`ordered-${oneOf(choices, 6)}`, { state: pick(choices, ['open', 'succeeded', 'failed'] as const) }],
  }),
  (choices) => ({
    name: 'insertResolution',
    given: [
      {
        commandId: `00000000-0000-4000-8000-${String(oneOf(choices, 1_000_000)).padStart(12, '0')}`,
        paymentId: pick(choices, ids),
        resolution: pick(choices, ['credit', 'refund', 'accept'] as const),
        decidedBy: 'sari',
        reason: 'by chance',
      },
    ],
  }),
  (choices) => ({ name: 'findCountedElsewhere', given: [[`transfer ${oneOf(choices, 4)}`], pick(choices, ids)] }),
  (choices) => ({
    name: 'countTransfers',
    given: [
      [`transfer ${oneOf(choices, 4)}`],
      {
        paymentId: pick(choices, ids),
        commandId: `00000000-0000-4000-8000-${String(oneOf(choices, 9)).padStart(12, '0')}`,
      },
    ],
  }),
  (choices) => ({ name: 'lastResolution', given: [pick(choices, ids)] }),
  (choices) => ({
    name: 'planOrder',
    given: [pick(choices, wallets), timeFrom(choices) ?? now()],
  }),
]

const compared = {
  real,
  standIns,
  makers,
  silent: [
    'recordPayment',
    'addMadeGood',
    'clearLostHolds',
    'confirmFreeze',
    'recordCleared',
    'planOrder',
    'planLook',
    'planLookAfterMiss',
    'planLookBy',
    'insertOrders',
    'uncountRequest',
    'insertResolution',
    'countTransfers',
  ],
}

test.each([1, 2, 3])('random calls of seed %d return the same from Postgres and from memory', async (seed) => {
  const { database } = scratch
  await database.run((db) =>
    db.execute(
      'truncate payments.payments, payments.refunds, payments.reversals, payments.wallets, payments.refund_orders, payments.resolutions, payments.returned_transfers',
    ),
  )
  await compare(database, compared, seed)
})

test('every stand-in of the stores of payments is compared, or returns a constant', () => {
  const apart = [
    'findSeconds',
    'firstPaymentAt',
    'lockPayment',
    'lockPaymentAhead',
    'lockWallet',
    'moveGivenBack',
    'moveLocked',
    'planCheck',
    ...constant,
  ]
  expect(notCompared(compared)).toEqual(apart.sort())
})
