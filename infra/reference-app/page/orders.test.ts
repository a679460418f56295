import { describe, expect, test } from 'bun:test'
import { type Answered, Unanswered } from '#shared/client/client'
import type { ErrorCode } from '#shared/refusals'
import { type AppOrder, OrderOpen, openOrders, submit } from './orders'

const storageOf = () => {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}
const wallet = '0x1'
const order: AppOrder = {
  kind: 'topup',
  body: { amount: '50000', method: 'qr', quoteId: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b' },
}
const refused = (code: ErrorCode): Answered<string> => ({
  refused: { code, status: 503, message: 'no', requestId: null },
})
const lost = async (): Promise<Answered<string>> => {
  throw new Unanswered('POST /topups', 1, undefined)
}
const answers = (answer: Answered<string>) => async () => answer

describe('an order', () => {
  test('an order is stored before it is sent, and forgotten once it is accepted', async () => {
    const orders = openOrders(storageOf(), wallet)
    const answer = await submit(orders, order, async (sent) => {
      expect(orders.get('topup')).toEqual(order)
      expect(sent).toBe(order)
      return { ok: 'pay_1' }
    })
    expect(answer).toEqual({ ok: 'pay_1' })
    expect(orders.get('topup')).toBeUndefined()
  })

  test('an order without a response stays stored with the same body, also for a page that is loaded again', async () => {
    const storage = storageOf()
    await expect(submit(openOrders(storage, wallet), order, lost)).rejects.toBeInstanceOf(Unanswered)
    expect(openOrders(storage, wallet).get('topup')).toEqual(order)
    expect(openOrders(storage, '0x2').get('topup')).toBeUndefined()
  })

  test('an order is forgotten when it is refused, permanently or for now', async () => {
    for (const code of ['quote_expired', 'provider_unavailable'] as const) {
      const orders = openOrders(storageOf(), wallet)
      await submit(orders, order, answers(refused(code)))
      expect(orders.get('topup')).toBeUndefined()
    }
  })

  test('an order stays stored when a refusal that is not about it follows an attempt without a response', async () => {
    const orders = openOrders(storageOf(), wallet)
    await submit(orders, order, lost).catch(() => {})
    for (const code of ['provider_unavailable', 'sign_in_again'] as const) {
      await submit(orders, order, answers(refused(code)))
      expect(orders.get('topup')).toEqual(order)
    }
    await submit(orders, order, answers(refused('quote_expired')))
    expect(orders.get('topup')).toBeUndefined()
  })

  test('an order that is answered late does not make the page forget a later one', async () => {
    const orders = openOrders(storageOf(), wallet)
    const later: AppOrder = { ...order, body: { ...order.body, amount: '60000' } }
    await submit(orders, order, async () => {
      orders.remove(order) // Another tab gets its response, then places another order.
      orders.put(later)
      return { ok: 'pay_1' }
    })
    expect(orders.get('topup')).toEqual(later)
  })

  test('an order is never replaced by another one while its outcome is unknown', async () => {
    const orders = openOrders(storageOf(), wallet)
    await submit(orders, order, lost).catch(() => {})
    const other: AppOrder = { ...order, body: { ...order.body, amount: '60000' } }
    const sent: AppOrder[] = []
    const second = submit(orders, other, async (one) => {
      sent.push(one)
      return { ok: 'pay_2' }
    })
    await expect(second).rejects.toBeInstanceOf(OrderOpen)
    expect(sent).toEqual([])
    expect(orders.get('topup')).toEqual(order)
  })
})
