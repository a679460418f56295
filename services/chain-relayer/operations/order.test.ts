import { describe, expect, test } from 'bun:test'
import { canonical, type SignedTransfer } from '#shared/chain/erc3009'
import type { Task } from './operation'
import { orderOf, sendIdOf } from './order'

const wallet = '0xAbcdef0123456789abcdef0123456789abcdef01'
const signed = {
  from: wallet,
  to: `0x${'33'.repeat(20)}`,
  value: '0100',
  validAfter: '0',
  validBefore: '1790000000',
  nonce: `0x${'AB'.repeat(32)}`,
  signature: `0x${'CD'.repeat(65)}`,
} as const
const credit = (ausd: string, held = false): Task => ({
  kind: 'credit',
  payload: { refId: 'pay_1', wallet, ausd, held },
})
const repay = (paidAt: string, held: boolean): Task => ({
  kind: 'repay',
  payload: { refId: 'pay_1', wallet, ausd: '5', held, paidAt },
})
const revoke = (of: 'topup' | 'settlement'): Task => ({
  kind: 'revoke',
  payload: { refId: 'pay_1', wallet, of },
})
const freeze = (frozen: boolean): Task => ({
  kind: 'freeze',
  payload: { wallet, frozen, revision: '17' },
})
const take = (authorization: SignedTransfer): Task => ({
  kind: 'take',
  payload: { payoutId: 'p1', authorization },
})

describe('an order', () => {
  test('has the same id and content however its addresses are spelled', () => {
    const spelled = { ...credit('5') } as { kind: 'credit'; payload: { wallet: string } }
    spelled.payload = { ...spelled.payload, wallet: wallet.toLowerCase() }
    expect(orderOf(spelled as Task)).toEqual(orderOf(credit('5')))
  })

  test.each([
    ['another amount', credit('5'), credit('6')],
    ['a hold', credit('5'), credit('5', true)],
    ['another time of payment', repay('1790000000', false), repay('1790000001', false)],
    ['a hold of what repaid', repay('1790000000', false), repay('1790000000', true)],
    ['another thing to revoke', revoke('topup'), revoke('settlement')],
    ['the opposite', freeze(true), freeze(false)],
  ])('of the same cause with %s contradicts', (_case, task, other) => {
    const [first, second] = [orderOf(task), orderOf(other)]
    expect(second.id).toBe(first.id)
    expect(second.contentHash).not.toBe(first.contentHash)
  })

  test.each([
    ['verify', { wallet, verified: true, revision: '17' }, `${wallet.toLowerCase()}:17`],
    ['drip', { wallet }, wallet.toLowerCase()],
    ['freeze', { wallet, frozen: true, revision: '17' }, `${wallet.toLowerCase()}:17`],
    ['credit', { refId: 'pay_1', wallet, ausd: '1', held: true }, 'pay_1'],
    ['repay', { refId: 'pay_1.2', wallet, ausd: '1', held: true, paidAt: '9' }, 'pay_1.2'],
    ['revoke', { refId: 'pay_1', wallet, of: 'topup' }, 'pay_1'],
    ['extend', { refId: 'pay_1', wallet, until: '0170' }, 'pay_1:170'],
    ['return', { payoutId: 'p1', wallet, ausd: '1' }, 'p1'],
  ] as const)('to %s is caused by %o', (kind, payload, cause) => {
    expect(orderOf({ kind, payload } as Task).cause).toBe(cause)
  })

  test('to take is the same whichever of its valid signatures it carries', () => {
    const other = { ...signed, signature: `0x${'ef'.repeat(65)}` as const }
    expect(orderOf(take(other)).contentHash).toBe(orderOf(take(signed)).contentHash)
  })

  test('to take knows what will leave the wallet and which nonce it uses', () => {
    expect(orderOf(take(signed))).toMatchObject({
      wallet: wallet.toLowerCase(),
      leavesMicro: 100n,
      authorizationNonce: signed.nonce.toLowerCase(),
    })
  })

  test('to send is named by wallet and nonce alone', () => {
    const respelled = { ...canonical(signed), value: '7' }
    expect(sendIdOf(respelled)).toBe(sendIdOf(signed))
  })
})
