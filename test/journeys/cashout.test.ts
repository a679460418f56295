import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { ausdOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let outside: ExternalControls
const has = { ausdMicro: 20_000_000n }

beforeAll(async () => {
  stack = await sharedStack()
  outside = outsideOf(stack.info)
})

const payoutsOf = async (payoutId: string) =>
  (await outside.book()).payouts!.filter((payout) => payout.reference_id === payoutId)

describe('a cash-out', () => {
  test('returns at once, ends paid, and leaves inFlight', async () => {
    const person = await newUser(stack, has)
    const body = await cashoutBody(stack, person)
    const order = okOf(await person.api.cashOut(body))
    expect(order).toMatchObject({ ausd: '5000000', fiat: '81250' })
    const item = await person.api.waitFor(order.payoutId, { everyMs: 100 })
    expect(item.status).toBe('paid')
    expect(await ausdOf(stack, person.wallet)).toBe(15_000_000n)
    expect(await payoutsOf(order.payoutId)).toMatchObject([
      { amount: 81_250, status: 'SUCCEEDED', channel_code: 'ID_BCA' },
    ])
    expect(okOf(await person.api.activity()).inFlight).toEqual([])
    const { accountNumber, accountHolderName } = body.bank
    expect(okOf(await person.api.exportData()).rows).toContainEqual({
      table: 'payouts.payouts',
      values: expect.objectContaining({
        id: order.payoutId,
        bankDetails: { accountNumber, accountHolderName },
      }),
    })
  })

  test('can be preceded by a check of the account, of which a user has a few a day', async () => {
    const person = await verifiedUser(stack, has)
    const { checksPerDayMax } = okOf(await person.api.config()).cashouts
    const holder = { channel_code: 'ID_BCA', holder_name: 'RINA MARLINA, S.E.' }
    const body = await cashoutBody(stack, person)
    const account = { channelCode: 'ID_BCA', accountNumber: body.bank.accountNumber }
    await outside.control('accounts', { ...holder, account_number: account.accountNumber })
    const check = (accountHolderName: string) => person.api.checkAccount({ bank: { ...account, accountHolderName } })
    expect(okOf(await check('Marlina Rina'))).toEqual({
      verdict: 'match',
      sentence: 'The bank has this account in this name.',
    })
    expect(okOf(await check('Rina Melati')).verdict).toBe('no_match')
    for (let more = 2; more < checksPerDayMax; more++) okOf(await check(`Name ${'abc'[more]}`))
    expect(await check('One More')).toMatchObject({
      refused: { status: 429, code: 'account_checks_too_many' },
    })
    expect(okOf(await check('Marlina Rina')).verdict).toBe('match')
    const { payoutId } = okOf(await person.api.cashOut(body))
    expect((await person.api.waitFor(payoutId, { everyMs: 100 })).status).toBe('paid')
  })

  test.each([
    ['the bank refuses', '999999'],
    ['the account does not exist', '121212'],
    ['the transfer is reversed after it succeeded', '654321'],
  ])('returns the AUSD once when %s', async (_, accountNumber) => {
    const person = await newUser(stack, has)
    const body = await cashoutBody(stack, person, { accountNumber })
    const { payoutId } = okOf(await person.api.cashOut(body))
    const entry = await entryIn(person, payoutId, 'returned')
    expect(entry).toMatchObject({ reason: expect.any(String), nextAction: null, channel: 'bank' })
    expect(await ausdOf(stack, person.wallet)).toBe(20_000_000n)
    expect(await payoutsOf(payoutId)).toHaveLength(1)
  })

  test('is in flight until the provider decides, and returns the AUSD if it was cancelled there', async () => {
    const person = await newUser(stack, has)
    const body = await cashoutBody(stack, person, { accountNumber: '131313' })
    const { payoutId } = okOf(await person.api.cashOut(body))
    const payout = await waitUntil('the payout reaching the provider', async () => (await payoutsOf(payoutId))[0])
    const { inFlight } = okOf(await person.api.activity())
    expect(inFlight).toMatchObject([{ id: payoutId, kind: 'cashout' }])
    const { secretKey } = stack.info.provider.ID
    await fetch(`${stack.info.sandbox}/v2/payouts/${payout.id}/cancel`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${secretKey}:`)}` },
    })
    await entryIn(person, payoutId, 'returned')
    expect(await ausdOf(stack, person.wallet)).toBe(20_000_000n)
  })

  test('is the same for the identical request, and refused for a different one', async () => {
    const person = await newUser(stack, has)
    const body = await cashoutBody(stack, person)
    const first = okOf(await person.api.cashOut(body))
    expect(okOf(await person.api.cashOut(body))).toEqual(first)
    const other = { ...body, bank: { ...body.bank, accountNumber: '9876543210' } }
    expect(await person.api.cashOut(other)).toMatchObject({
      refused: { status: 400, code: 'quote_used', message: 'This quote has already been used.' },
    })
    await entryIn(person, first.payoutId, 'paid')
    expect(await payoutsOf(first.payoutId)).toHaveLength(1)
  })

  test('whose authorization was submitted on chain first counts as taken', async () => {
    const person = await newUser(stack, { ...has, wei: 10n ** 17n })
    const body = await cashoutBody(stack, person)
    await person.submit(body.authorization)
    const reply = await person.insist('/cashouts', body)
    // The cash-out either did not know the transfer when it was checked and is paid, or is refused because the nonce is
    // used. It is never paid twice.
    if (reply.status === 400) expect(reply.body.error).toMatch(/nonce has already been used/)
    else await entryIn(person, reply.body.payoutId, 'paid')
    expect(await ausdOf(stack, person.wallet)).toBe(15_000_000n)
  })
})

describe('a bank account', () => {
  test('is stored encrypted: neither number nor name is in any table or log', async () => {
    const person = await newUser(stack, has)
    const secretName = `Zz Unmistakable ${person.wallet.slice(2, 10)}`
    const body = await cashoutBody(stack, person, { accountNumber: '48151623420815' })
    const reply = await person.insist('/cashouts', {
      ...body,
      bank: { ...body.bank, accountHolderName: `  ${secretName} ` },
    })
    await entryIn(person, reply.body.payoutId, 'paid')
    expect((await payoutsOf(reply.body.payoutId))[0].channel_properties.account_holder_name).toBe(secretName)
    const { everythingWritten } = await import('../support/database')
    const written = await everythingWritten(stack)
    expect(written.includes(reply.body.payoutId)).toBe(true)
    expect(written.includes('48151623420815')).toBe(false)
    expect(written.includes(secretName)).toBe(false)
  })
})
