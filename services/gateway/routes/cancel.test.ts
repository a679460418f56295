import { describe, expect, test } from 'bun:test'
import { exampleItem } from '#shared/api/activity'
import { errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, headerOf, walletOf } from '../test-support/wallets'

const id = `pay_${'a'.repeat(22)}`
const replies: Replies = {}
const fixture = await fixtureOf(replies)
const subject = 'payments.checkout.cancel'
const cancel = async (path: string, reply: () => unknown) => {
  replies[subject] = reply
  fixture.asked.length = 0
  return fixture.call('POST', path, { headers: { authorization: await headerOf(ana) } })
}

describe.each([
  ['topups', 'topup'],
  ['settlements', 'settlement'],
])('POST /%s/{id}/cancel', (path, kind) => {
  test('asks payments once, for the wallet of the session, and returns the item', async () => {
    const item = { ...exampleItem, id, kind, inFlight: false }
    const response = await cancel(`/${path}/${id}/cancel`, okay({ item }))
    expect([response.status, await response.json()]).toEqual([200, item])
    expect(fixture.asked).toEqual([[subject, { wallet: walletOf(ana), kind, id }]])
  })
  test('answers 404 to an unknown id, and does not ask about one that was never an id', async () => {
    for (const one of [id, 'pay_x', crypto.randomUUID(), '%00', `${id}%2f`]) {
      const response = await cancel(`/${path}/${one}/cancel`, okay({ item: null }))
      expect([response.status, await errorOf(response)]).toEqual([404, 'You have no item with this id.'])
      expect(fixture.asked).toHaveLength(one === id ? 1 : 0)
    }
  })
  test('answers 503 while the provider has not confirmed, and 429 until midnight above the limit', async () => {
    const unclear = await cancel(`/${path}/${id}/cancel`, refusing('cancellation_unconfirmed'))
    expect([unclear.status, unclear.headers.get('retry-after')]).toEqual([503, '2'])
    const tooMany = await cancel(`/${path}/${id}/cancel`, refusing('cancellations_too_many'))
    const tenHours = String(10 * 3_600) // The time until midnight in Jakarta is by the gateway's clock.
    expect([tooMany.status, tooMany.headers.get('retry-after')]).toEqual([429, tenHours])
  })
})
