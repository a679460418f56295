import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createTestClient, http } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { groupStack } from '../runner/group'
import { borrower, openSettlement } from '../support/flows'
import { type Checkout, entryIn, statusOf } from '../support/requests'
import { operate } from '../support/stack'
import { becomes } from '../support/wait'
import { codeOf, endsEven, explained, openBooks, payCode, tries, withdrawCollateral } from './fixture'

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})
afterEach(() => outside.calm())

/** Returns a user with 32 AUSD of final collateral and a debt of 10. */
async function debtor() {
  const person = await borrower(stack, { wei: 10n ** 19n }, '520000')
  const books = await openBooks(stack, person)
  await person.draw(10_000_000n)
  await person.until('the debt', (me) => me.drawn !== '0')
  return { person, books }
}

/** Opens a settlement after the debt has grown by 1 AUSD, so that an open checkout no longer covers it. */
async function settleMore(person: Person): Promise<Checkout> {
  await owesMore(person)
  return openSettlement(person)
}
async function owesMore(person: Person) {
  await person.draw(1_000_000n)
  await person.until('the larger debt', (me) => me.drawn === '11000000')
}

const sessionOf = async ({ paymentId }: Checkout): Promise<string> =>
  (await outside.book()).sessions!.find((session) => session.reference_id === paymentId).status

const said = ({ status, body }: Reply) => ({ status, error: body.error as string | undefined })

test('a borrower who pays one rupiah too much owes nothing at once, and an operator decides about the rupiah', async () => {
  const { person } = await debtor()
  const { paymentId, fiat } = await openSettlement(person)
  const paid = { channel_code: 'BRI_VIRTUAL_ACCOUNT', amount: Number(fiat) + 1, force: true }
  await outside.control(`sessions/${paymentId}/pay`, paid)
  await person.until('the repayment', (me) => me.drawn === '0')
  await entryIn(person, paymentId, 'review')
  const because = ['--reason', 'one rupiah too much', '--by', 'sari']
  expect(await operate(stack, 'review', 'resolve', paymentId, 'accept', ...because)).toMatchObject({ code: 0 })
  await entryIn(person, paymentId, 'accepted')
  expect((await person.me()).drawn).toBe('0')
})

describe('nothing is gained by a user who opens two checkouts for one debt', () => {
  test('and keeps both open, to pay the one with the better rate', async () => {
    const { person } = await debtor()
    const quote = await person.quote('USD/IDR')
    const first: Checkout = (await person.insist('/settlements', { quoteId: quote.id })).body
    expect(await openSettlement(person)).toEqual(first) // With the same debt and rate, the open checkout is returned.
    const second = await settleMore(person)
    const ending = async () => ({
      sessions: [await sessionOf(first), await sessionOf(second)],
      statuses: [await statusOf(person, first.paymentId), await statusOf(person, second.paymentId)],
      repeated: (await person.post('/settlements', { quoteId: quote.id })).body,
    })
    await becomes(ending, {
      sessions: ['CANCELED', 'ACTIVE'],
      statuses: ['replaced', 'awaiting_payment'],
      repeated: first,
    })
  })

  test('and pays both by bank transfer, the old one first', async () => {
    const { person, books } = await debtor()
    const first = await openSettlement(person)
    const code = await codeOf(stack, first.paymentId, 'BCA_VIRTUAL_ACCOUNT')
    const second = await settleMore(person)
    const status = await statusOf(person, first.paymentId)
    await payCode(stack, code)
    await person.until('the repayment', (me) => me.drawn !== '11000000')
    await outside.pay(second.paymentId, 'BCA_VIRTUAL_ACCOUNT')
    await person.until('both repayments', (me) => me.drawn === '0')
    expect(status).toBe('replaced')
    const ending = async () => {
      const { drawn, collateral } = await person.me()
      return { drawn, collateral: collateral.value }
    }
    // A bank transfer is final, so the second payment becomes collateral at once.
    await endsEven(books, ending, { drawn: '0', collateral: '42000000' })
  })

  test('and pays both by card, withdraws everything, and has both refunded', async () => {
    const { person, books } = await debtor()
    const first = await openSettlement(person)
    const code = await codeOf(stack, first.paymentId, 'CARDS')
    const second = await settleMore(person)
    await outside.pay(second.paymentId, 'CARDS')
    await payCode(stack, code)
    await person.until('both payments', ({ drawn, collateral }) => {
      const { value, pendingShares } = collateral
      return drawn === '0' && (value !== '32000000' || pendingShares !== '0')
    })
    const whole = await tries(withdrawCollateral(stack, person, 42_000_000n))
    for (const { paymentId } of [first, second]) await outside.refund(paymentId)
    expect(whole).toBe('reverted')
    const ending = async () => {
      const { drawn, collateral } = await person.me()
      return { drawn, pending: collateral.pendingShares }
    }
    await endsEven(books, ending, { drawn: '11000000', pending: '0' })
  })

  test('at the same instant, four times', async () => {
    const { person } = await debtor()
    const quotes = await Promise.all([1, 2, 3, 4].map(() => person.quote('USD/IDR')))
    const replies = await Promise.all(quotes.map((quote) => person.insist('/settlements', { quoteId: quote.id })))
    expect(replies.map(said)).toEqual(replies.map(() => ({ status: 200, error: undefined })))
    const [first, ...others] = replies.map(({ body }) => body as Checkout)
    expect(others).toEqual([first!, first!, first!])
    expect(await sessionOf(first!)).toBe('ACTIVE')
  })

  test('while the provider executes the request and does not respond, so that the first one stays open', async () => {
    const { person } = await debtor()
    const first = await openSettlement(person)
    await owesMore(person)
    const quoteId = (await person.quote('USD/IDR')).id
    await outside.faults({ api: { errorAfterAccept: 1 } })
    expect((await person.post('/settlements', { quoteId })).status).toBe(503)
    await outside.calm()
    const later = await person.insist('/settlements', { quoteId })
    expect(said(later)).toEqual({ status: 200, error: undefined })
    const ending = async () => [
      await sessionOf(first),
      await statusOf(person, first.paymentId),
      await sessionOf(later.body),
    ]
    await becomes(ending, ['CANCELED', 'replaced', 'ACTIVE'])
  })
})

describe('security: nothing is gained by a user who repays a debt before paying its checkout, to have collateral:', () => {
  afterAll(() => operate(stack, 'resume', 'topups', '--reason', 'ticket 7'))

  test.each([
    ['the daily limit is used up', false],
    ['top-ups are paused', true],
  ])('a second round is refused once %s', async (_, paused) => {
    const { person, books } = await debtor()
    const checkout = await openSettlement(person)
    await person.repay(10_000_000n)
    await person.until('the repayment', (me) => me.drawn === '0')
    const collateral = (await person.me()).collateral.value
    if (paused) await operate(stack, 'pause', 'topups', '--reason', 'ticket 7')
    // The debt was drawn today, so the payment was admitted as a top-up when it was opened; later ones are not.
    await outside.pay(checkout.paymentId, 'QRIS')
    await person.until('the excess', (me) => me.collateral.value !== collateral)
    await entryIn(person, checkout.paymentId, 'repaid', 'credited')
    if (!paused) {
      const quote = await person.quote('USD/IDR')
      const day = { amount: '1624236250', method: 'bank', quoteId: quote.id }
      expect(said(await person.insist('/topups', day)).status).toBe(200)
    }
    await person.draw(10_000_000n)
    await person.until('the debt', (me) => me.drawn !== '0')
    const quoteId = (await person.quote('USD/IDR')).id
    const { status, headers } = await person.post('/settlements', { quoteId })
    const code = headers.get('x-error-code')
    expect({ status, code }).toEqual(
      paused ? { status: 503, code: 'topups_paused' } : { status: 429, code: 'day_limit_reached' },
    )
    await becomes(() => books.close(), explained)
  })
})

// These tests come last because the chain mines only a block a second afterwards.
describe('a user pays a checkout and opens another before the debt is repaid', () => {
  const refused = { status: 400, error: 'A payment for this debt is already in progress.' }

  test.each([
    ['and we know of the payment', 0],
    ['and no webhook arrived', 1],
  ])('%s', async (_, drop) => {
    const chain = createTestClient({ mode: 'anvil', transport: http(stack.info.chain.rpcUrl) })
    const { person, books } = await debtor()
    const first = await openSettlement(person)
    const quoteId = (await person.quote('USD/IDR')).id
    await outside.faults({ webhooks: { drop } })
    // Without blocks there is no repayment.
    await chain.setIntervalMining({ interval: 0 })
    try {
      await outside.pay(first.paymentId, 'CARDS')
      if (drop === 0) await entryIn(person, first.paymentId, 'paid')
      const reply = await person.insist('/settlements', { quoteId })
      // The webhook was lost, so the paid checkout is still open in our row.
      if (drop === 0) expect(said(reply)).toEqual(refused)
      else expect(reply.body).toEqual(first)
    } finally {
      await chain.setIntervalMining({ interval: 1 })
    }
    await person.until('the repayment', (me) => me.drawn === '0')
    const nothing = { status: 400, error: 'nothing is owed' }
    expect(said(await person.insist('/settlements', { quoteId }))).toEqual(nothing)
    await becomes(() => books.close(), explained)
  })
})
