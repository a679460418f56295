import { describe, expect, test } from 'bun:test'
import { paymentIdFrom, settlementLifecycle, topupLifecycle } from './payment'

describe('the lifecycle of a payment', () => {
  test.each([
    ['top-up', topupLifecycle],
    ['settlement', settlementLifecycle],
  ] as const)('of a %s names only existing states and allows a review in each', (_, lifecycle) => {
    const table = lifecycle as Record<string, readonly string[]>
    for (const [state, next] of Object.entries(table)) {
      for (const after of next) expect(Object.keys(table)).toContain(after)
      if (state !== 'review') expect(next).toContain('review')
    }
  })

  test('never goes from a received to an unpaid state', () => {
    const received = ['paid', 'held', 'credited', 'repaid', 'revoking', 'revoked', 'refunded']
    const waiting = ['opening', 'awaiting_payment', 'expired', 'replaced']
    for (const table of [topupLifecycle, settlementLifecycle])
      for (const state of received) {
        const next = (table as Record<string, readonly string[]>)[state] ?? []
        expect(next.filter((after) => waiting.includes(after))).toEqual([])
      }
  })
})

describe('the payment id in a reference', () => {
  const id = 'pay_AbC-_fGhIjKlMnOpQrStUv'
  test.each([
    [id, id],
    [`${id}_1f2e3d4c-1`, id],
    [`${id}x`, undefined],
    [id.slice(0, -1), undefined],
    ['order-7001', undefined],
    [`x${id}`, undefined],
  ])('%s gives %p', (reference, found) => {
    expect(paymentIdFrom(reference)).toBe(found)
  })
})
