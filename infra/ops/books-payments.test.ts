import { expect, test } from 'bun:test'
import { refOf } from '#shared/chain/ref'
import { comparePayments } from './books-payments'
import type { PaymentRow } from './books-rows'

const wallet = `0x${'a'.repeat(40)}`
const ref = refOf('pay_1')
const credit = { what: 'credit', ref, wallet, ausdMicro: 7n, held: true, txHash: ref } as const
const revoke = { ...credit, what: 'revoke', held: false } as const
const row: PaymentRow = {
  ...{ id: 'pay_1', refs: [ref], kind: 'topup', state: 'held', wallet, held: true },
  ...{ liveMicro: 7n, promisedMicro: 7n, currency: 'IDR' },
  ...{ paidMinor: 1n, overpaidMinor: 0n, refundedMinor: 0n },
}

test.each([
  ['held, with its credit', {}, [credit], 0],
  ['held, with a credit of another sum', {}, [{ ...credit, ausdMicro: 6n }], 1],
  [
    'revoked, with nothing left',
    { state: 'revoked', liveMicro: 0n, promisedMicro: 0n },
    [credit, revoke],
    0,
  ],
  ['revoked, and not noted in its row', { state: 'revoked' }, [credit, revoke], 0],
  [
    'revoked in part',
    { state: 'revoked', liveMicro: 0n, promisedMicro: 0n },
    [credit, { ...revoke, ausdMicro: 6n }],
    1,
  ],
  ['being revoked', { state: 'revoking' }, [credit, revoke], 0],
  [
    'in review, paid twice and revoked',
    { state: 'review', liveMicro: 0n, promisedMicro: 0n },
    [credit, revoke],
    0,
  ],
] as const)('a payment %s', (_, change, effects, differences) => {
  const sum = (what: 'credit' | 'revoke') =>
    effects.reduce((total, one) => total + (one.what === what ? one.ausdMicro : 0n), 0n)
  const chain = {
    effects: [...effects],
    moves: [],
    toLineMicro: sum('credit'),
    fromLineMicro: sum('revoke'),
  }
  expect(comparePayments([{ ...row, ...change } as PaymentRow], chain)).toHaveLength(differences)
})
