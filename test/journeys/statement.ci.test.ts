import { beforeAll, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { okOf, openClient } from '#shared/client/client'
import { type Code, catalogue } from '#shared/language/catalogue'
import type { StatementItem } from '#shared/messages/statement'
import { query } from '../support/database'
import { newUser, verifiedUser } from '../support/people'
import { cashoutBody, entryIn, openCheckout } from '../support/requests'
import { sharedStack } from '../support/stack'
import { becomes, waitUntil } from '../support/wait'

let stack: RunningStack
let outside: ExternalControls
let person: Person
let ids: Record<'topup' | 'held' | 'settlement' | 'cashout', string>

const topUp = async (amount: string, channel: string) => {
  const { paymentId } = await openCheckout(person, { amount })
  const paid = await outside.pay(paymentId, channel)
  return { paymentId, charge: (paid as { payment_id?: string }).payment_id ?? paymentId }
}

beforeAll(async () => {
  stack = await sharedStack()
  outside = outsideOf(stack.info)
  person = await verifiedUser(stack, { ausdMicro: 50_000_000n, wei: 10n ** 19n })
  const topup = await topUp('500000', 'QRIS')
  await entryIn(person, topup.paymentId, 'credited')
  const held = await topUp('100000', 'CARDS')
  await entryIn(person, held.paymentId, 'held', 'credited')
  await person.draw(10_000_000n)
  await person.until('the debt', (me) => me.drawn === '10000000')
  await person.repay(1_000_000n)
  await person.until('the rest of the debt', (me) => me.drawn === '9000000')
  const { payoutId } = okOf(await person.api.cashOut(await cashoutBody(stack, person)))
  const quote = okOf(await person.api.quote('USD/IDR'))
  const settlement = okOf(await person.api.settle({ quoteId: quote.id }))
  await outside.pay(settlement.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  await entryIn(person, settlement.paymentId, 'repaid')
  await entryIn(person, payoutId, 'paid')
  ids = {
    topup: topup.paymentId,
    held: held.paymentId,
    settlement: settlement.paymentId,
    cashout: payoutId,
  }
})

const statement = async (period: { from?: string; to?: string } = {}) => okOf(await person.api.statement(period))
/** Waits for the statement of all items, because reader and journals follow the chain. */
const whole = () =>
  waitUntil('the statement of all items', async () => {
    const found = await statement()
    const has = (id: string) => found.items.some((one) => one.id === id)
    const isWhole = Object.values(ids).every(has) && found.closing.debt === '0'
    return isWhole && found.closing.inFlight === '0' && found.closing.payouts === '0' && found
  })
const sumOf = (items: readonly StatementItem[], side: 'in' | 'out', name: 'collateral' | 'debt') =>
  items.reduce((sum, one) => sum + BigInt(one[side][name] ?? 0), 0n)

test('a statement closes with the collateral and debt of the contract, and with nothing in flight', async () => {
  const { opening, closing, items } = await whole()
  expect(opening).toEqual({ collateral: '0', debt: '0', inFlight: '0', payouts: '0' })
  const { collateral, drawn } = okOf(await person.api.me())
  expect(closing.debt).toBe(drawn)
  expect(BigInt(closing.collateral)).toBe(BigInt(collateral.value) + BigInt(collateral.pendingValue))
  const kinds = items.map(({ kind }) => kind)
  for (const kind of ['collateral_added', 'drawn', 'repaid', 'cashout'] as const) expect(kinds).toContain(kind)
  expect(items.find(({ id }) => id === ids.topup)).toMatchObject({
    fiat: '500000',
    ausd: '30769230',
  })
  expect(items.find(({ id }) => id === ids.cashout)).toMatchObject({ fiat: '81250' })
})

test('a statement has the amounts of the journals, account by account', async () => {
  const { items } = await whole()
  const booked = await query<{ account: string; amount: string }>(
    stack,
    `select account, sum(-amount)::text amount from (
       select j.account, j.amount, p.wallet from payments.journal j join payments.payments p on p.id = j.item
       union all
       select j.account, j.amount, p.wallet from payouts.journal j join payouts.payouts p on p.id = j.item
     ) lines where wallet = '${person.wallet.toLowerCase()}' group by account`,
  )
  const of = (...names: string[]) =>
    booked.filter(({ account }) => names.includes(account)).reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const ours = items.filter(({ id }) => id !== undefined)
  expect(sumOf(ours, 'in', 'collateral')).toBe(of('collateral', 'collateral_held'))
  expect(sumOf(ours, 'out', 'debt')).toBe(of('repaid', 'repaid_held'))
  expect([of('promises', 'returns'), of('payouts')]).toEqual([0n, 0n])
})

test('a statement that ends within the story closes with the opening of the next one', async () => {
  const { items, from, to } = await whole()
  const middle = items[Math.floor(items.length / 2)]!.at
  const both = [await statement({ from, to: middle }), await statement({ from: middle, to })]
  expect(both[0]!.closing).toEqual(both[1]!.opening)
  expect(both.flatMap((one) => one.items).length).toBeGreaterThanOrEqual(items.length)
})

test('a card top-up that is refunded during its hold leaves the collateral of the statement again', async () => {
  const { paymentId } = await topUp('100000', 'CARDS')
  await entryIn(person, paymentId, 'held')
  await outside.refund(paymentId)
  await entryIn(person, paymentId, 'revoked')
  const ending = async () => {
    const { items, closing } = await statement()
    const kinds = items.filter(({ id }) => id === paymentId).map(({ kind }) => kind)
    const { value, pendingValue } = okOf(await person.api.me()).collateral
    return { kinds, missing: BigInt(value) + BigInt(pendingValue) - BigInt(closing.collateral) }
  }
  await becomes(ending, { kinds: ['collateral_added', 'topup_revoked'], missing: 0n })
})

test('the CSV of a statement has one row for each item, and the receipt of an item its transaction', async () => {
  const { items } = await whole()
  const rows = okOf(await person.api.statementCsv())
    .trimEnd()
    .split('\r\n')
  expect(rows.length).toBeGreaterThanOrEqual(items.length + 3)
  expect(rows.some((row) => row.includes(ids.cashout))).toBeTrue()
  const item = okOf(await person.api.item(ids.topup))
  const page = okOf(await person.api.receipt(ids.topup))
  for (const text of ['Rp 500,000', '30.769230 AUSD', item.txHash!, ids.topup]) expect(page).toContain(text)
})

test('items of every owner and the account are in the language of the client, and the receipt too', async () => {
  const refused = await person.sign({ to: person.wallet, valueMicro: 20_000n })
  const to = privateKeyToAddress(generatePrivateKey())
  const authorization = await person.sign({ to, valueMicro: 20_000n })
  const { sendId } = okOf(await person.api.send({ authorization }))
  await person.api.waitFor(sendId, { everyMs: 100 })
  for (const language of ['id', 'ms'] as const) {
    const { account } = person
    const api = openClient({ baseUrl: stack.info.gateway, account, language })
    const sentenceOf = (code: Code) => catalogue[code][language]
    const { items } = okOf(await api.activity())
    const said = (id: string) => items.find((item) => item.id === id)!.sentence
    expect([said(ids.topup), said(ids.settlement), said(ids.cashout), said(sendId)]).toEqual([
      sentenceOf('payment.credited'),
      sentenceOf('payment.repaid'),
      sentenceOf('cashout.paid'),
      sentenceOf('send.sent'),
    ])
    const { verification } = okOf(await api.me())
    expect(verification.sentence).toBe(sentenceOf('verification.approved'))
    expect(await api.send({ authorization: refused })).toMatchObject({
      refused: { code: 'to_self', message: sentenceOf('to_self') },
    })
    const amount = { id: 'Rp 500.000', ms: 'Rp 500,000' }[language]
    for (const text of [sentenceOf('payment.credited'), amount])
      expect(okOf(await api.receipt(ids.topup))).toContain(text)
  }
})

test("security: another wallet's statement and receipts show nothing of it", async () => {
  await whole()
  const other = await newUser(stack)
  const { items, closing } = okOf(await other.api.statement())
  expect([items, closing.collateral, closing.debt]).toEqual([[], '0', '0'])
  for (const id of [ids.topup, `pay_${'x'.repeat(22)}`])
    expect(await other.api.receipt(id)).toMatchObject({ refused: { status: 404 } })
  const { body } = await other.call('GET', `/me/statement?wallet=${person.wallet}`)
  expect(body.items).toEqual([])
})
