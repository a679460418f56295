import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { midnightInJakarta } from '#platform/db/columns'
import { refusals } from '#shared/declared-refusals'
import type { RefusalCode } from '#shared/refusals'
import { type Detour, type Fixture, openFixture } from '../test-support'
import { checksPerDayMax } from './check'
import { accountChecks, countChecks } from './check.store'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

let last = 0
const newWallet = () => `0x${String(++last).padStart(40, '0')}`
const bank = (change: object = {}) => ({
  channelCode: 'ID_BCA',
  accountNumber: `7${String(++last).padStart(8, '0')}0`,
  accountHolderName: 'Sari Dewi',
  ...change,
})
const rowsOf = (wallet: string) =>
  fixture.database.read((db) =>
    db
      .select()
      .from(accountChecks)
      .where(eq(accountChecks.wallet, wallet as `0x${string}`)),
  )
const isHolder = ({ url }: Request) => url.endsWith('/sandbox/account_holders')

describe('an account check', () => {
  test.each([
    ['match', 'Sari Dewi', {}],
    ['no_match', 'Budi Santoso', {}],
    ['no_match', 'Sari Dewi', { accountNumber: '121212' }],
    ['cannot_tell', 'Sari Dewi', { accountNumber: '1234567899' }],
  ] as const)('is a %s for %p at %p', async (verdict, accountHolderName, at) => {
    const asked = { wallet: newWallet(), bank: bank({ accountHolderName, ...at }) }
    const { ok } = await fixture.check(asked)
    expect(ok).toEqual({ verdict })
  })

  test('uses the holder that a control has set', async () => {
    const account = bank()
    const set = (holder_name: string | null) =>
      fixture.control('accounts', {
        channel_code: account.channelCode,
        account_number: account.accountNumber,
        holder_name,
      })
    await set('NONO LESTARI, S.KOM')
    const accountHolderName = 'Ñoño Lestari'
    const { ok } = await fixture.check({
      wallet: newWallet(),
      bank: { ...account, accountHolderName },
    })
    expect(ok!.verdict).toBe('match')
  })

  test.each<[string, Detour]>([
    ['an error', () => new Response('{}', { status: 500 })],
    ['a refusal', () => Response.json({ error_code: 'X', message: 'Sari' }, { status: 400 })],
    ['no JSON', () => new Response('Sari Dewi')],
    ['another form', () => Response.json({ found: 'yes', account_holder_name: 'SARI DEWI' })],
    ['no name', () => Response.json({ found: true, account_holder_name: null })],
    ['a masked name', () => Response.json({ found: true, account_holder_name: 'SA** DE**' })],
    ['silence', () => new Promise<Response>(() => {})],
  ])('is a cannot_tell if the provider answers with %s', async (_, answer) => {
    const asked = { wallet: newWallet(), bank: bank() }
    const by: Detour = (call) => (isHolder(call) ? answer(call, undefined as never) : undefined)
    const { ok } = await fixture.detoured(by, () => fixture.check(asked))
    expect(ok!.verdict).toBe('cannot_tell')
    expect(JSON.stringify(fixture.logged)).not.toMatch(/Sari|SARI/)
  })

  test('is a cannot_tell that is not counted while no list of banks was ever fetched', async () => {
    const asked = { wallet: newWallet(), bank: bank() }
    const down = () => Promise.reject(new Error('no list'))
    const channels = { ...fixture.context.channels, find: down }
    expect(await fixture.check(asked, { channels })).toEqual({ ok: { verdict: 'cannot_tell' } })
    expect(await rowsOf(asked.wallet)).toEqual([])
  })

  test('stores only the verdict: neither name nor number nor bank', async () => {
    const asked = { wallet: newWallet(), bank: bank() }
    const { ok } = await fixture.check(asked)
    const [row] = await rowsOf(asked.wallet)
    // On a busy machine the provider may not answer within the deadline of a check.
    expect(row!.verdict).toBe(ok!.verdict)
    expect(JSON.stringify(row)).not.toContain(asked.bank.accountNumber)
    expect(JSON.stringify(row)).not.toMatch(/Sari|ID_BCA/)
    expect(row!.accountMark).toMatch(/^[\w-]{43}$/)
    expect(row!.requestMark).toMatch(/^[\w-]{43}$/)
  })

  test.each<[RefusalCode, object]>([
    ['bank_unknown', { channelCode: 'ID_NOBANK' }],
    ['bank_account_format', { accountNumber: '123456' }],
  ])('is refused as %s like a cash-out, and not counted', async (refused, change) => {
    const asked = { wallet: newWallet(), bank: bank(change) }
    expect(await fixture.check(asked, { accountLengths: 'strict' })).toEqual({ refused })
    expect(await rowsOf(asked.wallet)).toEqual([])
  })

  test('is refused to an unverified wallet, and asks the provider nothing', async () => {
    const asked = { wallet: newWallet(), bank: bank() }
    fixture.chain.verified = false
    const refused = await fixture.check(asked)
    fixture.chain.verified = true
    expect(refused).toEqual({ refused: 'not_verified' })
    expect(await rowsOf(asked.wallet)).toEqual([])
  })
})

const tooMany = 'account_checks_too_many'

describe('security: account checks', () => {
  test('have a refusal of their own', () => {
    expect(refusals[tooMany].status).toBe(429)
  })

  // guard: account checks of a wallet are counted one after another
  test('of a wallet are three a day, also if ten are sent at once', async () => {
    const wallet = newWallet()
    const asked = Array.from({ length: 10 }, () => ({ wallet, bank: bank() }))
    const answers = await Promise.all(asked.map((one) => fixture.check(one)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(checksPerDayMax)
    expect(answers.filter(({ refused }) => refused === tooMany)).toHaveLength(7)
    expect(await fixture.check({ wallet: newWallet(), bank: bank() })).toHaveProperty('ok')
  })

  test('of a bank account are three a day over all wallets, which stops a search for its holder', async () => {
    const account = bank()
    const asked = Array.from({ length: 6 }, (_, at) => ({
      wallet: newWallet(),
      bank: { ...account, accountHolderName: `Name ${'abcdef'[at]}` },
    }))
    const answers = await Promise.all(asked.map((one) => fixture.check(one)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(checksPerDayMax)
    const zeros = { ...account, accountNumber: `00${account.accountNumber}` }
    expect(await fixture.check({ wallet: newWallet(), bank: zeros })).toEqual({ refused: tooMany })
  })

  test('of all wallets have a daily budget', async () => {
    const budget = { accountChecksDayMax: (await fixture.database.read(countChecks)) + 2 }
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => fixture.check({ wallet: newWallet(), bank: bank() }, budget)),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2)
    expect(answers.filter(({ refused }) => refused === tooMany)).toHaveLength(2)
  })

  test('are available again on the next day', async () => {
    const wallet = newWallet()
    for (let turn = 0; turn < checksPerDayMax; turn++) await fixture.check({ wallet, bank: bank() })
    expect(await fixture.check({ wallet, bank: bank() })).toEqual({ refused: tooMany })
    await fixture.database.run((db) =>
      db
        .update(accountChecks)
        .set({ askedAt: sql`${midnightInJakarta} - interval '1 second'` })
        .where(eq(accountChecks.wallet, wallet as `0x${string}`)),
    )
    expect(await fixture.check({ wallet, bank: bank() })).toHaveProperty('ok')
  })

  test('are repeated although the clock was set back since one that got no answer', async () => {
    const asked = { wallet: newWallet(), bank: bank() }
    await fixture.check(asked)
    await fixture.database.run((db) =>
      db
        .update(accountChecks)
        .set({ verdict: null, askedAt: sql`now() + interval '2 hours'` })
        .where(eq(accountChecks.wallet, asked.wallet as `0x${string}`)),
    )
    expect((await fixture.check(asked)).ok).toEqual({ verdict: 'match' })
  })

  test('count a repeated request once, which gets the first verdict, also concurrently', async () => {
    const asked = { wallet: newWallet(), bank: bank() }
    let calls = 0
    const by: Detour = (call) => {
      if (isHolder(call)) calls += 1
      return undefined
    }
    const answers = await fixture.detoured(by, async () => [
      ...(await Promise.all([1, 2, 3, 4].map(() => fixture.check(asked)))),
      await fixture.check(asked),
    ])
    expect(answers.map(({ ok }) => ok?.verdict)).toEqual(Array(5).fill('match'))
    expect([calls, (await rowsOf(asked.wallet)).length]).toEqual([1, 1])
  })
})
