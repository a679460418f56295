import { afterAll, beforeAll, expect, test } from 'bun:test'
import { waitUntil } from '#test/support/wait'
import { type Fixture, openFixture } from '../test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

// guard: a wallet whose cash-outs were given back too often makes no more that day
test('security: after three cash-outs refused by banks in a day, a wallet gets no fourth', async () => {
  const person = `0x${'8'.repeat(40)}`
  const asked = (bank: object) => fixture.request({ wallet: person, authorization: { from: person }, bank })
  const refusing = { accountNumber: '999999' }
  const three = { givenBackMax: { ofWallet: 3, toAccount: 1_000 } }
  for (const channelCode of ['ID_BCA', 'ID_MANDIRI', 'ID_BCA']) {
    const { ok } = await fixture.create(asked({ ...refusing, channelCode }), three)
    await fixture.relayed('take', ok!.payoutId)
    await fixture.until(ok!.payoutId, 'returning')
  }
  const fourth = asked({ channelCode: 'ID_BRI' })
  expect(await fixture.create(fourth, three)).toEqual({ refused: 'cashouts_refused_too_many' })
  expect(fixture.quotes.get(fourth.quoteId)!.requestFingerprint).toBeUndefined()
  expect(await fixture.create(fixture.request(), three)).toHaveProperty('ok')
})

test('security: once the bank refused one, cash-outs in progress count as refused', async () => {
  const person = `0x${'7'.repeat(40)}`
  const asked = (accountNumber: string) =>
    fixture.request({ wallet: person, authorization: { from: person }, bank: { accountNumber } })
  const three = { givenBackMax: { ofWallet: 3, toAccount: 1_000 } }
  const inProgress = ['1234567891', '1234567892']
  for (const account of inProgress) expect(await fixture.create(asked(account), three)).toHaveProperty('ok')
  const { ok } = await fixture.create(asked('999999'), three)
  await fixture.relayed('take', ok!.payoutId)
  await fixture.until(ok!.payoutId, 'returning')
  expect(await fixture.create(asked('1234567893'), three)).toEqual({
    refused: 'cashouts_refused_too_many',
  })
})

test('security: after three cash-outs to one account were refused in a day, no wallet gets a fourth', async () => {
  const asked = (digit: string, accountNumber = '999999') => {
    const wallet = `0x${digit.repeat(40)}`
    const bank = { accountNumber, channelCode: 'ID_BNI' }
    return fixture.request({ wallet, authorization: { from: wallet }, bank })
  }
  const three = { givenBackMax: { ofWallet: 1_000, toAccount: 3 } }
  for (const digit of ['a', 'b', 'f']) {
    const { ok } = await fixture.create(asked(digit), three)
    await fixture.relayed('take', ok!.payoutId)
    await fixture.until(ok!.payoutId, 'returning')
  }
  expect(await fixture.create(asked('9'), three)).toEqual({
    refused: 'cashouts_refused_too_many',
  })
  expect(await fixture.create(asked('9', '1234567890'), three)).toHaveProperty('ok')
})

test('security: others cannot keep the owner of a bank account from it by refused cash-outs', async () => {
  const asked = (digit: string) => {
    const wallet = `0x${digit.repeat(40)}`
    // The sandbox's bank leaves a transfer to this account undecided.
    const bank = { accountNumber: '141414', channelCode: 'ID_BNI' }
    return fixture.request({ wallet, authorization: { from: wallet }, bank })
  }
  const three = { givenBackMax: { ofWallet: 1_000, toAccount: 3 } }
  const end = async (digit: string, how: 'succeed' | 'fail', state: 'paid' | 'returning') => {
    const { ok } = await fixture.create(asked(digit), three)
    await fixture.relayed('take', ok!.payoutId)
    await fixture.until(ok!.payoutId, 'paying')
    await waitUntil('the order at the provider', () =>
      fixture.control(`payouts/${ok!.payoutId}/${how}`, {}).catch(() => undefined),
    )
    await fixture.until(ok!.payoutId, state)
  }
  await end('c', 'succeed', 'paid')
  for (const digit of ['d', 'e', '2']) await end(digit, 'fail', 'returning')
  expect(await fixture.create(asked('3'), three)).toEqual({ refused: 'cashouts_refused_too_many' })
  expect(await fixture.create(asked('c'), three)).toHaveProperty('ok')
})
