import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Stack } from '#infra/local/stack'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { ownStack } from '../support/stack'
import { watchful } from './fixture'

let stack: Stack
let outside: Outside

beforeAll(async () => {
  stack = await ownStack({ env: watchful })
  outside = outsideOf(stack.info)
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

const terms = { pair: 'USD/IDR', amount: '1625000', method: 'bank' } as const

describe('somebody opens checkouts to pay those whose rate turned out well', () => {
  test('and keeps them open for half an hour', async () => {
    const person = await verifiedUser(stack)
    const before = Date.now()
    const { paymentId } = await openCheckout(person, terms)
    const { sessions } = await outside.book()
    const session = sessions!.find(({ reference_id }) => reference_id === paymentId)
    expect(Date.parse(session.expires_at) - before).toBeLessThan(16 * 60_000)
  })
})
