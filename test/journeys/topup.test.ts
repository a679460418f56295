import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { creditsOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let outside: ExternalControls
let person: Person

beforeAll(async () => {
  stack = await sharedStack()
  outside = outsideOf(stack.info)
  person = await verifiedUser(stack)
})

describe('a user whose identity was approved', () => {
  test('is verified on the chain and gets native coin, once', async () => {
    const user = await newUser(stack, { wei: 0n })
    expect((await user.me()).verified).toBe(false)
    for (let time = 0; time < 3; time++) await outside.identity(user.wallet, 'approved')
    await user.until('verification', (me) => me.verified)
    const first = await user.until('the drip', (me) => BigInt(me.balance.native) > 0n && me)
    await outside.identity(user.wallet, 'approved')
    expect((await user.me()).balance.native).toBe(first.balance.native)
  })

  test('loses the flag when a later verdict rejects', async () => {
    const user = await verifiedUser(stack)
    await outside.identity(user.wallet, 'rejected')
    await user.until('withdrawal', (me) => !me.verified)
  })
})

describe('a paid top-up', () => {
  test.each([
    ['USD/IDR', '50000', 'qr', 'QRIS', '3076923'],
    ['USD/IDR', '10000', 'bank', 'BCA_VIRTUAL_ACCOUNT', '615384'],
    ['USD/MYR', '500', 'bank', 'MAYB2U_FPX', '1187648'],
  ] as const)(
    'of %s %s requested as %s and paid by %s is collateral at once: %s',
    async (pair, amount, method, channel, ausd) => {
      const before = BigInt((await person.me()).collateral.value)
      const checkout = await openCheckout(person, { pair, amount, method })
      expect(checkout).toMatchObject({ fiat: amount, ausd })
      await outside.pay(checkout.paymentId, channel)
      const me = await person.until('the credit', (seen) => BigInt(seen.collateral.value) > before && seen)
      expect(BigInt(me.collateral.value) - before).toBe(BigInt(ausd))
      expect(me.collateral.pendingShares).toBe('0')
      expect(BigInt(me.limit)).toBeGreaterThan(0n)
      expect(await creditsOf(stack, checkout.paymentId)).toEqual([
        { wallet: person.wallet, ausdMicro: BigInt(ausd), held: false },
      ])
    },
  )

  // The tests run concurrently, so that they wait for one hold together.
  test.concurrent.each([
    ['USD/IDR', '50000', 'card', 'CARDS'],
    ['USD/IDR', '50000', 'bank', 'DANA'],
    ['USD/MYR', '1000', 'qr', 'TOUCHNGO'],
  ] as const)(
    'of %s %s requested as %s but charged to %s is held, and collateral when the hold ends',
    async (pair, amount, method, channel) => {
      const holder = await verifiedUser(stack)
      const checkout = await openCheckout(holder, { pair, amount, method })
      await outside.pay(checkout.paymentId, channel)
      const held = await holder.until('the hold', (me) => me.collateral.pendingShares !== '0' && me)
      expect(held.collateral.value).toBe('0')
      expect(held.limit).toBe('0')
      expect(held.pendingUntil).toMatch(/^[0-9]{10}$/)
      const free = await holder.until('the end of the hold', (me) => me.collateral.value !== '0' && me)
      expect(free.collateral).toMatchObject({ value: checkout.ausd, pendingShares: '0' })
      expect(await creditsOf(stack, checkout.paymentId)).toHaveLength(1)
    },
  )

  test('limits the checkout to cards only when a card was requested', async () => {
    const card = await openCheckout(person, { amount: '50000', method: 'card' })
    const any = await openCheckout(person)
    const { sessions } = await outside.book()
    const channelsOf = (id: string) =>
      sessions?.find((session) => session.reference_id === id)?.allowed_payment_channels
    expect(channelsOf(card.paymentId)).toEqual(['CARDS'])
    expect(channelsOf(any.paymentId) ?? []).toEqual([])
  })
})

describe('a quote', () => {
  test('opens one checkout: the identical request gets the same response, and any other is refused', async () => {
    const quote = okOf(await person.api.quote('USD/IDR'))
    const body = { amount: '50000', method: 'qr', quoteId: quote.id } as const
    const first = okOf(await person.api.topUp(body))
    expect(okOf(await person.api.topUp(body))).toEqual(first)
    const used = { refused: { status: 400, message: 'This quote has already been used.' } }
    expect(await person.api.topUp({ ...body, amount: '60000' })).toMatchObject(used)
    expect(await (await verifiedUser(stack)).api.topUp(body)).toMatchObject(used)
  })

  test('that is paid late still counts, at the locked rate', async () => {
    const late = await verifiedUser(stack)
    const checkout = await openCheckout(late, { amount: '50000', method: 'bank' })
    await outside.expire(checkout.paymentId)
    await waitUntil('the checkout leaving', async () => {
      const { items } = okOf(await late.api.activity())
      return items.some(({ status }) => status === 'expired')
    })
    await outside.control(`sessions/${checkout.paymentId}/pay`, {
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
      late: true,
    })
    await late.until('the credit', (me) => me.collateral.value === checkout.ausd)
  })
})
