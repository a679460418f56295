import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Handler } from '#platform/bus/serve'
import { AccountFind, AccountRefuse, CashoutHold } from '#shared/messages/payouts'
import { waitUntil } from '#test/support/wait'
import type { Context } from '../context'
import { erasure } from '../person/erase'
import { type Detour, type Fixture, openFixture } from '../test-support'
import { openDetailsSafe } from './bank'
import { answerOperatorCommands } from './operator-commands'
import { answerRefusals, decideRefusal } from './refusal'
import { refusedAccounts } from './refusal.store'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

let last = 0
/** Returns a bank account that no other test uses. */
const newAccount = () => ({ channelCode: 'ID_BCA', accountNumber: `8${String(++last).padStart(8, '0')}0` })
const bankOf = (account: { channelCode: string; accountNumber: string }) => ({
  ...account,
  accountHolderName: 'Sari Dewi',
})

type Outcome = { done?: string; refused?: string }
type Found = { account?: string; revision?: number; isRefused?: boolean; isAllowed?: boolean; unknown?: string }
const ask = async <T>(subject: string, asked: object, context: Context = fixture.context): Promise<T> => {
  const handlers: Handler[] = [...answerRefusals(context), ...answerOperatorCommands(context)]
  const one = handlers.find(({ question }) => question.subject === subject)!
  return ((await one.answer(asked)) as { ok: T }).ok
}
const operator = () => ({ command: crypto.randomUUID(), by: 'olga', reason: 'ticket 7' })
const find = (of: object, context?: Context) => ask<Found>(AccountFind.subject, { of }, context)
async function set(of: object, to: 'refused' | 'allowed', context?: Context, revision?: number): Promise<Outcome> {
  const seen = revision ?? (await find(of, context)).revision!
  return ask<Outcome>(AccountRefuse.subject, { ...operator(), of, to, revision: seen }, context)
}
const hold = async (payoutId: string, to: 'held' | 'released') => {
  const { holdRevision: revision } = await fixture.row(payoutId)
  return ask<Outcome>(CashoutHold.subject, { ...operator(), payoutId, to, revision })
}

const opened = async (account: { channelCode: string; accountNumber: string }) =>
  (await fixture.create(fixture.request({ bank: bankOf(account) }))).ok!.payoutId
const refusedTo = async (account: object) => (await fixture.create(fixture.request({ bank: account }))).refused

/** Returns a context whose keys of bank details are these, the first of them used for new rows. */
const withKeys = (...keys: readonly { id: string; key: Buffer }[]): Context => ({
  ...fixture.context,
  safe: openDetailsSafe(keys),
})
const oldKey = { id: 'k-old', key: Buffer.alloc(32, 1) }
const newKey = { id: 'k-new', key: Buffer.alloc(32, 2) }

// guard: a bank account that an operator refuses is one that we pay
test('security: a mistyped bank or number is not taken as refused', async () => {
  const account = newAccount()
  for (const [wrong, says] of [
    [{ ...account, channelCode: 'ID_BBCA' }, 'is no bank that we pay to'],
    [
      { ...account, accountNumber: `${account.accountNumber}1`.padEnd(20, '1') },
      'has no account number of this length',
    ],
  ] as const) {
    const strict = { ...fixture.context, accountLengths: 'strict' } as const
    const { refused } = await set(wrong, 'refused', strict)
    expect(refused).toBe(`${wrong.channelCode} ${says}: nothing is refused`)
    expect(await find(wrong)).toMatchObject({ isRefused: false, revision: 0 })
  }
  const channels = { ...fixture.context.channels, find: () => Promise.reject(new Error('no list')) }
  expect(await set(account, 'refused', { ...fixture.context, channels })).toHaveProperty('done')
})

describe('a change of a refusal, for an operator who saw a revision', () => {
  const since = new Date(0)
  const refused = { since, marks: ['a'], revision: 1 }
  const allowed = { since: null, marks: ['a'], revision: 2 }
  test.each([
    ['an account that was never refused', 'refused', 0, 'under the same key', 'change', undefined],
    ['an account that was never refused', 'refused', 1, 'under the same key', 'stale', undefined],
    ['an account that was never refused', 'allowed', 0, 'under the same key', 'same', undefined],
    ['an account that is refused', 'refused', 1, 'under the same key', 'same', refused],
    ['an account that is refused', 'refused', 0, 'under the same key', 'same', refused],
    ['an account that is refused', 'refused', 1, 'also under a new key', 'change', refused],
    ['an account that is refused', 'refused', 0, 'also under a new key', 'stale', refused],
    ['an account that is refused', 'allowed', 1, 'under the same key', 'change', refused],
    ['an account that is refused', 'allowed', 0, 'under the same key', 'stale', refused],
    ['an account that is allowed again', 'allowed', 2, 'under the same key', 'same', allowed],
    ['an account that is allowed again', 'refused', 2, 'under the same key', 'change', allowed],
    ['an account that is allowed again', 'refused', 1, 'under the same key', 'stale', allowed],
  ] as const)('%s, to be %s after revision %d, %s: %s', (_, to, revision, under, decided, known) => {
    const marks = under === 'under the same key' ? ['a'] : ['b', 'a']
    expect(decideRefusal(known, { to, revision, marks })).toBe(decided)
  })
})

describe('a refused bank account', () => {
  // guard: a cash-out to a refused bank account is refused
  test('gets no cash-out of any wallet, with or without leading zeros, until it is allowed again', async () => {
    const account = newAccount()
    const { account: name } = await find(account)
    expect(await set(account, 'refused')).toEqual({ done: `${name} is refused` })
    expect(await refusedTo(bankOf(account))).toBe('bank_account_refused')
    const zeros = { ...account, accountNumber: `00${account.accountNumber}` }
    expect(await refusedTo(bankOf(zeros))).toBe('bank_account_refused')
    expect(await refusedTo(bankOf(newAccount()))).toBeUndefined()
    expect(await refusedTo({ ...bankOf(account), channelCode: 'ID_BNI' })).toBeUndefined()
    expect(await set(account, 'allowed')).toEqual({ done: `${name} is allowed` })
    expect(await refusedTo(bankOf(account))).toBeUndefined()
  })

  test('is stored and named without its number', async () => {
    const account = newAccount()
    const { account: name } = await find(account)
    expect(name).toMatch(/^acc_[\w-]{43}$/)
    await set(account, 'refused')
    const rows = await fixture.database.read((db) => db.select().from(refusedAccounts))
    const row = rows.find((one) => one.account === name)
    expect(row).toMatchObject({ channelCode: 'ID_BCA', setBy: 'olga', reason: 'ticket 7', revision: 1 })
    expect(JSON.stringify([row, fixture.logged])).not.toContain(account.accountNumber)
  })

  test('is the same account by bank and number, by a cash-out to it, and by its name', async () => {
    const account = newAccount()
    const payoutId = await opened(account)
    const { account: name } = await find(account)
    expect(await find({ payoutId })).toMatchObject({ account: name, isRefused: false, isAllowed: true })
    await set({ payoutId }, 'refused')
    expect(await find(account)).toEqual({ account: name, revision: 1, isRefused: true, isAllowed: false })
    expect(await set({ account: name }, 'allowed')).toEqual({
      done: expect.stringContaining(`${name} is allowed; held until`),
    })
    expect(await find(account)).toEqual({ account: name, revision: 2, isRefused: false, isAllowed: true })
  })

  test('is changed once by a repeated command, and not by a late one that has not seen the newest', async () => {
    const account = newAccount()
    const { account: name } = await find(account)
    await set(account, 'refused')
    expect(await set(account, 'refused', fixture.context, 0)).toEqual({ done: `${name} is refused` })
    await set(account, 'allowed')
    const changed = `the refusal of ${name} has changed: look again`
    expect(await set(account, 'refused', fixture.context, 0)).toEqual({ refused: changed })
    expect(await find(account)).toMatchObject({ isAllowed: true, revision: 2 })
  })

  test('is still refused after its cash-outs were erased', async () => {
    const account = newAccount()
    const wallet = `0x${'e'.repeat(40)}` as const
    const asked = fixture.request({ wallet, bank: bankOf(account), authorization: { from: wallet } })
    const { ok } = await fixture.create(asked)
    await fixture.relayed('take', ok!.payoutId, 'authorization_expired')
    await fixture.until(ok!.payoutId, 'failed')
    await set({ payoutId: ok!.payoutId }, 'refused')
    await fixture.database.transaction(async (tx) => {
      for (const statement of erasure.empty(wallet, undefined)) await tx.execute(statement)
    })
    expect(await fixture.row(ok!.payoutId)).toMatchObject({ accountMark: null, bankDetails: '' })
    expect(await refusedTo(bankOf(account))).toBe('bank_account_refused')
    expect(await find({ payoutId: ok!.payoutId })).toEqual({
      unknown: `the bank account of ${ok!.payoutId} is erased: name it by bank and number`,
    })
  })

  test('cannot be named by a cash-out or a name that does not exist', async () => {
    const payoutId = crypto.randomUUID()
    const account = `acc_${'x'.repeat(43)}`
    expect(await find({ payoutId })).toEqual({ unknown: `there is no cash-out ${payoutId}` })
    expect(await set({ account }, 'allowed', fixture.context, 0)).toEqual({
      refused: `${account} is no account of the list`,
    })
  })
})

describe('a cash-out that was accepted before its bank account was refused', () => {
  // guard: a cash-out to a refused bank account is not released
  test('is held while its AUSD is taken, and can be released only once the account is allowed', async () => {
    const account = newAccount()
    const id = await opened(account)
    const { account: name } = await find(account)
    expect(await set(account, 'refused')).toEqual({
      done: `${name} is refused; held until \`cashouts release\` or \`cancel\`: ${id}`,
    })
    await fixture.relayed('take', id)
    await waitUntil('two checks of the held cash-out', async () => (await fixture.row(id)).checks > 1)
    expect([(await fixture.row(id)).state, await fixture.transfers(id)]).toEqual(['taken', []])
    expect(await hold(id, 'released')).toEqual({
      refused: `the bank account of ${id} is refused: accounts allow ${name}, or cashouts cancel`,
    })
    await set(account, 'allowed')
    expect(await fixture.row(id)).toMatchObject({ heldByOperator: true, state: 'taken' })
    expect(await hold(id, 'released')).toEqual({ done: `${id} is released` })
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('is named, and paid once, if its payout was already ordered', async () => {
    const account = newAccount()
    const { account: name } = await find(account)
    const down: Detour = ({ method }) => (method === 'POST' ? new Response('{}', { status: 503 }) : undefined)
    const id = await fixture.detoured(down, async () => {
      const taken = await fixture.taken({ bank: bankOf(account) })
      await fixture.until(taken, 'paying')
      expect(await set(account, 'refused')).toEqual({
        done: `${name} is refused; already ordered at the provider: ${taken}`,
      })
      return taken
    })
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
    expect(await set(account, 'refused')).toEqual({ done: `${name} is refused` })
  })

  test('is held if it is late and was not ordered, because the provider could not be read', async () => {
    const account = newAccount()
    const { account: name } = await find(account)
    const down: Detour = () => Response.json({ error_code: 'SERVER_ERROR', message: '' }, { status: 500 })
    const id = await fixture.detoured(down, async () => {
      const late = await opened(account)
      await fixture.putBack(late, 'taken')
      await waitUntil('a look-up that fails', () => fixture.unclear(late).length > 0)
      expect(await set(account, 'refused')).toEqual({
        done: `${name} is refused; held until \`cashouts release\` or \`cancel\`: ${late}`,
      })
      return late
    })
    const { checks } = await fixture.row(id)
    await fixture.due(id)
    await waitUntil('two checks of the held cash-out', async () => (await fixture.row(id)).checks > checks + 1)
    expect([(await fixture.row(id)).state, await fixture.transfers(id)]).toEqual(['taken', []])
    await set(account, 'allowed')
    await hold(id, 'released')
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  // guard: a cash-out to a bank account is stored before its refusal and held, or after it and refused
  test('and one that is requested at the same time is held or refused, never paid', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const account = newAccount()
      const [created] = await Promise.all([
        fixture.create(fixture.request({ bank: bankOf(account) })),
        set(account, 'refused', fixture.context, 0),
      ])
      const outcome = created.ok ? (await fixture.row(created.ok.payoutId)).heldByOperator : created.refused
      expect(String(outcome)).toMatch(/^(true|bank_account_refused)$/)
    }
  })
})

describe('after a rotation of the keys of bank details', () => {
  test('a refused account stays refused while its key is configured, and without it once it was refused again', async () => {
    const account = newAccount()
    const both = withKeys(newKey, oldKey)
    await set(account, 'refused', withKeys(oldKey))
    const request = () => fixture.request({ bank: bankOf(account) })
    expect((await fixture.create(request(), both)).refused).toBe('bank_account_refused')
    expect((await fixture.create(request(), withKeys(newKey))).refused).toBeUndefined()
    expect(await find(account, both)).toMatchObject({ isRefused: false, isAllowed: false, revision: 1 })
    const { account: name } = await find(account, withKeys(oldKey))
    expect((await set(account, 'refused', both)).done).toStartWith(`${name} is refused`)
    expect((await fixture.create(request(), withKeys(newKey))).refused).toBe('bank_account_refused')
    expect(await find(account, withKeys(newKey))).toMatchObject({ account: name, isRefused: true })
  })

  test('a cash-out that was stored under the earlier key is held', async () => {
    const account = newAccount()
    const { ok } = await fixture.create(fixture.request({ bank: bankOf(account) }), withKeys(oldKey))
    await set(account, 'refused', withKeys(newKey, oldKey))
    expect(await fixture.row(ok!.payoutId)).toMatchObject({ heldByOperator: true })
  })
})
