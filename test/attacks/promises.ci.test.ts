import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { acceptAsCapital } from '#infra/operations/books/external/accept'
import { checkBooks, openBooksOf } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { urlInRole } from '#platform/db/url'
import { booksClose } from '../support/books'
import { ausdOf } from '../support/ledger'
import { mint, spendTreasury, verifiedUser, verifiedUsers } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'
import { quickChecks } from '../support/settings'
import { operate, ownStack } from '../support/stack'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { becomes } from '../support/wait'

let stack: Stack
let outside: ExternalControls
let treasury: Address
/** Balances of treasury and provider at the start. */
let fullMicro: bigint
let fullMinor: number

beforeAll(async () => {
  const payouts = { ...quickChecks.payouts, BALANCE_EVERY_MS: '300' }
  stack = await ownStack({
    env: { ...quickChecks, payouts, operations: { BOOKS_EVERY_MS: '3600000' } },
    terms: { minCycleSeconds: 0 },
    operations: true,
  })
  outside = outsideOf(stack.info)
  treasury = stack.info.chain.treasury as Address
  fullMicro = await ausdOf(stack, treasury)
  fullMinor = valueIn(await scrape(stack), 'ausd_provider_balance_minor')!
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const amount = '52000'
const topupMicro = 3_200_000n
const payoutMicro = 5_000_000n
const payoutMinor = 81_250

/** Interval in ms of looking at the metrics, which takes every service a while. A service renews its figures after 3 s. */
const scrapeEveryMs = 800

const seen = (name: string, value: number) =>
  waitUntil(
    `${name} being ${value}`,
    async () => valueIn(await scrape(stack), name) === value,
    patienceMs,
    scrapeEveryMs,
  )

async function treasuryHas(micro: bigint) {
  const has = await ausdOf(stack, treasury)
  if (has < micro) await mint(stack, treasury, micro - has)
  if (has > micro) await spendTreasury(stack, has - micro)
  await seen('ausd_treasury_balance_micro', Number(micro))
}

const shortages: readonly (string | null)[] = ['treasury_short', 'treasury_empty', 'payouts_short']
/** Sends a request and retries while a service is slow. A shortage is a 503 too, but final here. */
const post = (person: Person, path: string, body: object): Promise<Reply> =>
  answered(() => person.post(path, body), {
    meant: ({ headers }) => shortages.includes(headers.get('x-error-code')),
  })
const topup = async (person: Person, change: object = {}): Promise<Reply> => {
  const quoteId = (await person.quote('USD/IDR')).id
  return post(person, '/topups', { amount, method: 'qr', quoteId, ...change })
}
const said = ({ status, body, headers }: Reply) => ({
  status,
  error: body.error,
  code: headers.get('x-error-code'),
  waits: headers.has('retry-after'),
})
const short = {
  status: 503,
  code: 'treasury_short',
  waits: true,
  error: "We can't accept a top-up of this size right now. Try a smaller amount or try again later.",
}

async function status() {
  const { said, code } = await operate(stack, 'status', '--json')
  return { code, needs: (JSON.parse(said) as { needs: string[] }).needs }
}
const needing = (words: RegExp) =>
  waitUntil(`a need with ${words}`, async () => {
    const { code, needs } = await status()
    return code === 1 && words.test(needs.join('\n'))
  })

describe('a user wants more AUSD than the treasury has', () => {
  test('while the treasury is full, status reports no alert', async () => {
    await becomes(status, { code: 0, needs: [] })
  })

  test('a top-up above the cover is refused before payment, and the same quote works once there is cover', async () => {
    const person = await verifiedUser(stack)
    await treasuryHas(topupMicro - 1n)
    const quoteId = (await person.quote('USD/IDR')).id
    const asked = { amount, method: 'qr', quoteId }
    expect(said(await post(person, '/topups', asked))).toEqual(short)
    expect(said(await post(person, '/topups', { ...asked, amount: '1' })).status).toBe(400)
    await needing(/treasury is low: 3\.199999 AUSD uncommitted/)
    // The unpaid top-ups of a wallet hold at most half of the free AUSD.
    await treasuryHas(2n * topupMicro)
    const opened = await post(person, '/topups', asked)
    expect(opened.status).toBe(200)
    await outside.pay(opened.body.paymentId, 'QRIS')
    await entryIn(person, opened.body.paymentId, 'credited')
  })

  test('twelve top-ups at once, with cover for five, open at most four checkouts', async () => {
    const people = await verifiedUsers(stack, 12)
    await seen('ausd_treasury_promised_micro', 0)
    await treasuryHas(5n * topupMicro)
    const calls = people.map((person) => topup(person))
    const replies = await Promise.all(calls)
    const opened = replies.filter((reply) => reply.status === 200)
    expect(opened).toHaveLength(4)
    for (const reply of replies) if (reply.status !== 200) expect(said(reply)).toEqual(short)
    for (const { body } of opened) await outside.pay(body.paymentId, 'QRIS')
    await waitUntil('every credit', async () => (await ausdOf(stack, treasury)) === topupMicro)
  })

  test('AUSD of a cash-out that the bank has not paid covers no top-up', async () => {
    const person = await verifiedUser(stack, { ausdMicro: payoutMicro })
    await seen('ausd_treasury_promised_micro', 0)
    await treasuryHas(1_000_000n)
    // This account number keeps the payout pending.
    const body = await cashoutBody(stack, person, { accountNumber: '141414' })
    const { payoutId } = (await post(person, '/cashouts', body)).body
    await entryIn(person, payoutId, 'paying')
    await seen('ausd_treasury_owed_micro', Number(payoutMicro))
    await seen('ausd_treasury_balance_micro', Number(payoutMicro + 1_000_000n))
    expect(said(await topup(person))).toEqual(short)
    await outside.control(`payouts/${payoutId}/succeed`)
    await entryIn(person, payoutId, 'paid')
    await seen('ausd_treasury_owed_micro', 0)
    await treasuryHas(2n * topupMicro)
    expect((await topup(person)).status).toBe(200)
  })
})

test('a debt that was drawn today can be settled only if the treasury covers it as a top-up', async () => {
  await treasuryHas(1_000_000_000n)
  const person = await verifiedUser(stack, { wei: 10n ** 19n })
  const { paymentId } = (await topup(person, { amount: '520000' })).body
  await outside.pay(paymentId, 'QRIS')
  await person.until('collateral', (me) => me.collateral.value !== '0')
  await person.draw(4_000_000n)
  await person.until('the debt', (me) => me.drawn === '4000000')

  await seen('ausd_treasury_promised_micro', Number(topupMicro))
  await treasuryHas(4_000_000n - 1n)
  const quoteId = (await person.quote('USD/IDR')).id
  expect(said(await post(person, '/settlements', { quoteId }))).toEqual({
    status: 503,
    code: 'treasury_empty',
    waits: true,
    error: "We can't settle this debt right now. Try again later, or repay it from the AUSD in your wallet.",
  })
  // Of the AUSD, 3.2 are committed, and an unpaid settlement may hold half of the rest.
  await treasuryHas(topupMicro + 8_000_000n - 1n)
  expect(said(await post(person, '/settlements', { quoteId }))).toEqual(short)
  await treasuryHas(topupMicro + 8_000_000n)
  const settlement = await post(person, '/settlements', { quoteId })
  expect(settlement.status).toBe(200)
  await outside.pay(settlement.body.paymentId, 'QRIS')
  await person.until('the repayment', (me) => me.drawn === '0')
})

describe('a user wants more rupiah than the provider holds', () => {
  const cashout = async (person: Person) =>
    post(person, '/cashouts', await cashoutBody(stack, person, { ausdMicro: payoutMicro }))
  const tooFew = {
    status: 503,
    code: 'payouts_short',
    waits: true,
    error: "We can't pay out that much rupiah right now. Try a smaller amount or try again later.",
  }
  const has = async (rupiah: number) => {
    await outside.control('balance', { amount: rupiah })
    await seen('ausd_provider_balance_minor', rupiah)
  }

  test('a cash-out above the cover is refused before AUSD is taken, and the same request works later', async () => {
    const person = await verifiedUser(stack, { ausdMicro: payoutMicro })
    await has(payoutMinor - 1)
    const body = await cashoutBody(stack, person, { ausdMicro: payoutMicro })
    expect(said(await post(person, '/cashouts', body))).toEqual(tooFew)
    const wrong = { ...body, bank: { ...body.bank, channelCode: 'ID_NOWHERE' } }
    expect(said(await post(person, '/cashouts', wrong)).code).toBe('bank_unknown')
    await needing(/provider balance is low: Rp 81,249 uncommitted/)
    await has(payoutMinor)
    const accepted = await post(person, '/cashouts', body)
    expect(accepted.status).toBe(200)
    await entryIn(person, accepted.body.payoutId, 'paid')
    await seen('ausd_provider_balance_minor', 0)
  })

  test('sixteen cash-outs at once, with cover for five, accept at most five', async () => {
    // The balance is enough for all five, although a cash-out that is taken in the meantime may count twice against its
    // wallet.
    const micro = 10n * payoutMicro
    const people = await verifiedUsers(stack, 4, { ausdMicro: micro })
    await seen('ausd_provider_unpaid_minor', 0)
    await has(5 * payoutMinor + 1)
    const calls = people.flatMap((person) => Array.from({ length: 4 }, () => cashout(person)))
    const replies = await Promise.all(calls)
    const accepted = replies.filter((reply) => reply.status === 200)
    expect(accepted).toHaveLength(5)
    for (const reply of replies) if (reply.status !== 200) expect(said(reply)).toEqual(tooFew)
    // The provider pays all of them and has nothing left.
    await seen('ausd_provider_unpaid_minor', 0)
    await seen('ausd_provider_balance_minor', 1)
    const { payouts } = await outside.book()
    expect(payouts!.filter(({ status }) => status === 'FAILED')).toEqual([])
  })
})

test('money that an operator deposits and withdraws is reported, and one command books it', async () => {
  await treasuryHas(fullMicro)
  await outside.control('balance', { amount: fullMinor })
  const place = placeOf(stack.info)
  await using books = await openBooksOf(place, urlInRole(stack.adminUrl, 'books'))
  const atProvider = /^provider_unknown (txn_\S+) .*: the provider has a movement of \d+, money (?:in|out), /
  const onChain = /^treasury_moved (0x\S+) .* out of \d+, 0x0*dead, .* booked 0$/
  const items = await waitUntil('the transfers by hand', async () => {
    const breaks = await checkBooks(place, stack.adminUrl, { checksMax: 1, betweenMs: 0 })
    const named = [atProvider, onChain].map((words) => breaks.flatMap((one) => words.exec(one)?.[1] ?? []))
    return named.every((some) => some.length > 0) && named.flat()
  })
  for (const item of items) await acceptAsCapital(books, item, 'float of the payouts')
  const words = ['unexplained', 'accept', items[0]!, '--reason', 'float of the payouts']
  expect((await operate(stack, ...words)).said).toBe(`${items[0]} booked as capital`)
})

test('after the attacks on cover the books balance', () => booksClose(stack))
