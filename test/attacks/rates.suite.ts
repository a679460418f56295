import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { openSettlement, topUp } from '../support/flows'
import { verifiedUser } from '../support/people'
import { answered, cashoutBody, entryIn, openCheckout, statusOf } from '../support/requests'
import { becomes } from '../support/wait'
import { codeOf, endsEven, openBooks, payCode } from './fixture'
import { market } from './market'

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})
afterEach(() => outside.calm())

async function moves(person: Person, rate: number | 'stale') {
  market.turn(rate)
  await waitUntil('the rate being quoted', async () => {
    const { headers, body } = await person.post('/quote', { pair: 'USD/IDR' })
    const isMissing = headers.get('x-error-code') === 'rate_unavailable'
    return rate === 'stale' ? isMissing : body.rate === String(rate)
  })
}

/** Returns a verified user at a rate of Rp 16,250 per dollar. */
async function newcomer(): Promise<Person> {
  const person = await verifiedUser(stack, { wei: 10n ** 19n })
  await moves(person, 16_250)
  return person
}

const terms = { pair: 'USD/IDR', amount: '1625000', method: 'bank' } as const
const channel = 'BCA_VIRTUAL_ACCOUNT'

/** Expires a checkout after its channel's code was shown. */
async function ends(person: Person, paymentId: string, by = channel) {
  await codeOf(stack, paymentId, by)
  await outside.expire(paymentId)
  await entryIn(person, paymentId, 'expired')
}

async function ended(person: Person): Promise<string> {
  const { paymentId } = await openCheckout(person, terms)
  await ends(person, paymentId)
  return paymentId
}

/** Gives a user 100 AUSD of final collateral and a debt of 10. */
async function borrows(person: Person) {
  const { id } = await topUp(stack, person, { amount: terms.amount })
  await entryIn(person, id, 'credited')
  await person.draw(10_000_000n)
  await person.until('the debt', (me) => me.drawn !== '0')
}

const collateralOf = async (person: Person) => (await person.me()).collateral.value

describe('nothing is gained by a user who opens checkouts to pay only those with a favourable rate', () => {
  test('and keeps them open for half an hour', async () => {
    const person = await newcomer()
    const before = Date.now()
    const { paymentId } = await openCheckout(person, terms)
    const { sessions } = await outside.book()
    const session = sessions!.find(({ reference_id }) => reference_id === paymentId)
    expect(Date.parse(session.expires_at) - before).toBeLessThan(16 * 60_000)
  })
})

describe('nothing is gained by a user who pays after the checkout has ended', () => {
  test('at the better rate locked for a bank transfer', async () => {
    const person = await newcomer()
    const books = await openBooks(stack, person)
    const id = await ended(person)
    await moves(person, 16_900)
    await outside.pay(id, channel)
    const entry = await entryIn(person, id, 'credited')
    // The payment of Rp 1,625,000 counts at Rp 16,900, not at 16,250.
    await endsEven(books, () => collateralOf(person), '96153846')
    expect(entry).toMatchObject({ ausd: '96153846', reason: 'paid_late', nextAction: null })
    expect(entry.sentence).toMatch(/^It was paid after the checkout closed, so a later exchange rate/)
  })

  test('and has part refunded, to keep the rest at the better rate', async () => {
    const person = await newcomer()
    const books = await openBooks(stack, person)
    const checkout = await openCheckout(person, terms)
    await ends(person, checkout.paymentId, 'CARDS')
    await moves(person, 16_900)
    await outside.pay(checkout.paymentId, 'CARDS')
    const entry = await entryIn(person, checkout.paymentId, 'held')
    expect(entry).toMatchObject({ ausd: '96153846' })
    const shares = async () => BigInt((await person.me()).collateral.pendingShares)
    const whole = await shares()
    await outside.control(`payments/${checkout.paymentId}/refund`, { amount: 812_500 })
    await endsEven(books, shares, whole / 2n)
  })

  test('to repay a debt for less than its current value', async () => {
    const person = await newcomer()
    const books = await openBooks(stack, person)
    await borrows(person)
    const { paymentId } = await openSettlement(person)
    await ends(person, paymentId)
    await moves(person, 16_900)
    await outside.pay(paymentId, channel)
    await entryIn(person, paymentId, 'repaid')
    // The payment of Rp 162,500 repaid 9.615384 of 10 AUSD.
    await endsEven(books, async () => (await person.me()).drawn, '384616')
  })

  test('of a settlement that was replaced, at its old rate', async () => {
    const person = await newcomer()
    await borrows(person)
    const { paymentId } = await openSettlement(person)
    const code = await codeOf(stack, paymentId, channel)
    await person.draw(1_000_000n)
    await person.until('the larger debt', (me) => me.drawn === '11000000')
    await openSettlement(person)
    await moves(person, 16_900)
    await payCode(stack, code)
    await entryIn(person, paymentId, 'repaid')
    await becomes(async () => (await person.me()).drawn, '1384616')
  })

  test('while no rate is available, so that the locked one would count', async () => {
    const person = await newcomer()
    const id = await ended(person)
    await moves(person, 'stale')
    await outside.pay(id, channel)
    const waiting = async () => {
      const { items, inFlight } = (await answered(() => person.get('/me/activity'))).body
      const { status, reason, nextAction } = items.find((item: { id: string }) => item.id === id)
      return {
        status,
        reason,
        nextAction,
        inFlight: inFlight?.length,
        collateral: await collateralOf(person),
      }
    }
    const reason = 'awaiting_rate'
    await becomes(async () => (await waiting()).reason, reason)
    expect(await waiting()).toMatchObject({ status: 'expired', reason, collateral: '0' })
    expect((await waiting()).nextAction).toBe('wait')
    await moves(person, 16_900)
    await entryIn(person, id, 'credited')
    expect(await collateralOf(person)).toBe('96153846')
  })
})

describe('a user without bad intent', () => {
  test('pays in time but the report is late, and gets the promised amount', async () => {
    const person = await newcomer()
    const { paymentId } = await openCheckout(person, terms)
    await outside.faults({ webhooks: { drop: 1 }, api: { errorRate: 1 } })
    await outside.pay(paymentId, channel)
    await moves(person, 16_900)
    await outside.calm()
    await entryIn(person, paymentId, 'credited')
    expect(await collateralOf(person)).toBe('100000000')
  })
})

describe('a user cannot exceed the limits of one wallet', () => {
  const usd = (dollars: number) => String(dollars * 16_250)
  const post = (person: Person, path: string, body: unknown) => answered(() => person.post(path, body))
  const topup = async (person: Person, dollars: number, quoteId?: string) =>
    post(person, '/topups', {
      amount: usd(dollars),
      method: 'bank',
      quoteId: quoteId ?? (await person.quote('USD/IDR')).id,
    })
  const tally = (replies: readonly Reply[]) =>
    Object.fromEntries(
      Map.groupBy(replies, said)
        .entries()
        .map(([what, { length }]) => [what, length]),
    )
  const said = ({ status, body }: Reply) => (status === 200 ? 'ok' : `${status} ${body.error}`)
  const tooMuch = '400 Your open top-ups exceed the limit. Pay or cancel one, or wait for one to expire.'
  const dayOver =
    '429 Daily limit reached. Try a smaller amount, or try again after midnight in Jakarta (in Kuala Lumpur for ringgit).'

  test('by twelve checkouts at once; a refusal leaves its quote unused', async () => {
    const person = await newcomer()
    const quotes = await Promise.all(Array.from({ length: 12 }, () => person.quote('USD/IDR')))
    const replies = await Promise.all(quotes.map(({ id }) => topup(person, 12_000, id)))
    expect(tally(replies)).toEqual({ ok: 8, [tooMuch]: 4 })
    const open: string = replies.find(({ status }) => status === 200)!.body.paymentId
    await outside.expire(open)
    await becomes(() => statusOf(person, open), 'expired')
    const refused = replies.findIndex(({ status }) => status === 400)
    // The expired checkout still counts towards the day.
    expect(said(await topup(person, 12_000, quotes[refused]!.id))).toBe(dayOver)
    expect(said(await topup(person, 2_000, quotes[refused]!.id))).toBe('ok')
    // An accepted request gets its answer again, although the day is full.
    const accepted = replies.findLastIndex(({ status }) => status === 200)
    expect(said(await topup(person, 12_000, quotes[accepted]!.id))).toBe('ok')
  })

  test('by paying one checkout after another, and then a debt that was drawn today', async () => {
    const person = await newcomer()
    const first = await topup(person, 60_000)
    await outside.pay(first.body.paymentId, 'BRI_VIRTUAL_ACCOUNT')
    await entryIn(person, first.body.paymentId, 'credited')
    const second = await topup(person, 50_000)
    expect(said(second)).toBe(dayOver)
    expect(Number(second.headers.get('Retry-After'))).toBeGreaterThan(2)
    expect(said(await topup(person, 100_001))).toBe('400 Amount exceeds the daily limit.')
    expect(said(await topup(person, 40_000))).toBe('ok')
    await person.draw(10_000_000n)
    await person.until('the debt', (me) => me.drawn !== '0')
    const quoteId = (await person.quote('USD/IDR')).id
    expect(said(await post(person, '/settlements', { quoteId }))).toBe(dayOver)
  })

  test('by twelve cash-outs at once', async () => {
    const person = await verifiedUser(stack, { ausdMicro: 300_000_000_000n })
    await moves(person, 16_250)
    const bodies = await Promise.all(
      Array.from({ length: 12 }, () => cashoutBody(stack, person, { ausdMicro: 12_000_000_000n })),
    )
    const replies = await Promise.all(bodies.map((body) => post(person, '/cashouts', body)))
    expect(tally(replies)).toEqual({ ok: 8, [dayOver]: 4 })
    const large = await cashoutBody(stack, person, { ausdMicro: 100_000_000_001n })
    const whole = '400 Amount exceeds the daily limit.'
    expect(said(await post(person, '/cashouts', large))).toBe(whole)
  })
})
