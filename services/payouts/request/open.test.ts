import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { type Ask, Unavailable } from '#platform/bus/ask'
import { AuthorizationCheck } from '#shared/messages/chain'
import { type RefusalCode, refuse } from '#shared/refusals'
import { sumAllOfDay } from '../cashout.store'
import { type Fixture, openFixture, unlimited } from '../test-support'
import { openDetailsSafe } from './bank'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds)
const other = '0x1111111111111111111111111111111111111111'

/** Changes of a request. Each fixes one more rule, so that the next broken one shows. */
const mendings: [RefusalCode, (fixture: Fixture) => object][] = [
  ['wallet_not_from', () => ({})],
  ['to_not_treasury', () => ({ wallet: undefined })],
  ['value_zero', () => ({ authorization: { to: undefined } })],
  ['valid_after_not_reached', () => ({ authorization: { value: '615384' } })],
  ['valid_before_too_near', () => ({ authorization: { validAfter: '0' } })],
  ['quote_unknown', () => ({ authorization: { validBefore: inSeconds(360) } })],
  ['quote_not_idr', (fixture) => ({ quoteId: fixture.quote('USD/MYR', '421') })],
  ['payout_below_minimum', (fixture) => ({ quoteId: fixture.quote() })],
  ['bank_unknown', () => ({ authorization: { value: '20000000000' } })],
  ['payout_above_maximum', () => ({ bank: { channelCode: 'ID_JAGO' } })],
  ['signature_invalid', () => ({ authorization: { value: '5000000' } })],
]

type Wrong = { wallet?: string; quoteId?: string; authorization: object; bank: object }
const everythingWrong = (): Wrong => ({
  wallet: other,
  quoteId: crypto.randomUUID(),
  authorization: { to: other, value: '0', validAfter: inSeconds(60), validBefore: inSeconds(290) },
  bank: { channelCode: 'ID_NOWHERE', accountNumber: '123456' },
})
const clean = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

describe('a cash-out is refused for its first fault in this order', () => {
  // guard: a cash-out is a transfer to the treasury
  // guard: a cash-out is requested by the signer of its transfer
  test.each(mendings.map(([code], step) => [step + 1, code] as const))('%p: %s', async (step, code) => {
    const wrong = everythingWrong()
    for (const [, mend] of mendings.slice(0, step)) {
      const { authorization, bank, ...rest } = mend(fixture) as Partial<Wrong>
      Object.assign(wrong, rest)
      wrong.authorization = clean({ ...wrong.authorization, ...authorization })
      wrong.bank = { ...wrong.bank, ...bank }
    }
    const before = (await fixture.rows()).length
    fixture.chain.refused = 'signature_invalid'
    const asked = fixture.request(clean(wrong))
    expect(await fixture.create(asked)).toEqual({ refused: code })
    expect(fixture.quotes.get(asked.quoteId)?.requestFingerprint).toBeUndefined()
    expect(await fixture.rows()).toHaveLength(before)
    delete fixture.chain.refused
  })

  // guard: a signed transfer that the chain would refuse is refused
  // together with: a frozen wallet cannot cash out
  test.each(['balance_too_low', 'nonce_used', 'chain_unavailable'] as const)(
    "and for the chain's refusal %s",
    async (code) => {
      fixture.chain.refused = code
      const asked = fixture.request()
      expect(await fixture.create(asked)).toEqual({ refused: code })
      delete fixture.chain.refused
      expect(await fixture.create(asked)).toHaveProperty('ok')
    },
  )

  const ofWallet = [
    [403, 'wallet_frozen'],
    [429, 'gas_budget_spent'],
  ] as const
  // guard: a frozen wallet cannot cash out
  test.each(ofWallet)('%i %s, after all faults with 400; the quote stays unused', async (_, refused) => {
    fixture.chain.refused = refused
    for (const [wrong, code] of [
      [{ authorization: { to: other } }, 'to_not_treasury'],
      [{ quoteId: crypto.randomUUID() }, 'quote_unknown'],
      [{ authorization: { value: '1' } }, 'payout_below_minimum'],
      [{ bank: { channelCode: 'ID_NOWHERE' } }, 'bank_unknown'],
    ] as const)
      expect(await fixture.create(fixture.request(wrong))).toEqual({ refused: code })
    const asked = fixture.request()
    const before = (await fixture.rows()).length
    expect(await fixture.create(asked)).toEqual({ refused })
    expect(fixture.quotes.get(asked.quoteId)?.requestFingerprint).toBeUndefined()
    expect(await fixture.rows()).toHaveLength(before)
    delete fixture.chain.refused
    expect(await fixture.create(asked)).toHaveProperty('ok')
  })

  test('while cash-outs are paused, with the start of the pause; an accepted one continues', async () => {
    const before = fixture.request()
    const accepted = await fixture.create(before)
    expect((await fixture.pause('paused')).ok.done).toMatch(/^payouts paused since \S+$/)
    expect((await fixture.pause('paused')).ok.done).toContain(', by sari: ticket 7')
    const asked = fixture.request()
    const rows = (await fixture.rows()).length
    const since = expect.stringMatching(/^20[0-9-]+T[0-9:]+Z$/)
    expect(await fixture.create(asked)).toEqual({ refused: 'cashouts_paused', since })
    expect(fixture.quotes.get(asked.quoteId)?.requestFingerprint).toBeUndefined()
    expect(await fixture.rows()).toHaveLength(rows)
    expect(await fixture.create(before)).toEqual(accepted)
    await fixture.pause('running')
    expect(await fixture.create(asked)).toHaveProperty('ok')
  })

  test.each(['wallet_frozen', 'balance_too_low', 'nonce_used'] as const)(
    'as a conflict if its authorization is already used by a payout, not as %s',
    async (refused) => {
      const asked = fixture.request()
      await fixture.create(asked)
      fixture.chain.refused = refused
      const again = { ...asked, quoteId: fixture.quote() }
      expect(await fixture.create(again)).toEqual({ refused: 'authorization_conflict' })
      delete fixture.chain.refused
    },
  )

  test('but not if it was accepted before the wallet was frozen', async () => {
    const asked = fixture.request()
    const first = await fixture.create(asked)
    fixture.chain.refused = 'wallet_frozen'
    expect(await fixture.create(asked)).toEqual(first)
    delete fixture.chain.refused
  })

  test('for an expired quote, and for a quote already taken', async () => {
    const [expired, used] = [fixture.request(), fixture.request()]
    fixture.quotes.get(expired.quoteId)!.over = true
    fixture.quotes.get(used.quoteId)!.requestFingerprint = 'somebody'
    expect(await fixture.create(expired)).toEqual({ refused: 'quote_expired' })
    expect(await fixture.create(used)).toEqual({ refused: 'quote_used' })
  })

  test('when chain-relayer does not respond', async () => {
    const ask = ((question, ...rest) => {
      if (question.subject === AuthorizationCheck.subject) throw new Unavailable('not there')
      return fixture.ask(question, ...rest)
    }) as Fixture['ask']
    expect(await fixture.create(fixture.request(), { ask })).toEqual({
      refused: 'chain_unavailable',
    })
  })

  test('when the list of banks was never fetched', async () => {
    const noList = () => Promise.reject(new Error('no list'))
    const channels = { ...fixture.context.channels, find: noList, all: noList }
    expect(await fixture.create(fixture.request(), { channels })).toEqual({
      refused: 'provider_unavailable',
    })
  })

  test.each([
    ['lenient', '123456', undefined],
    ['strict', '123456', 'bank_account_format'],
    ['strict', '1234567890', undefined],
  ] as const)('with %s length checks, account %s at BCA: %p', async (accountLengths, accountNumber, code) => {
    const asked = fixture.request({ bank: { accountNumber } })
    expect((await fixture.create(asked, { accountLengths })).refused).toBe(code)
  })
})

describe('an accepted cash-out', () => {
  test('is stored with its order in one transaction, priced down, without the bank account in the response', async () => {
    const quoteId = fixture.quote('USD/IDR', '16250')
    const asked = fixture.request({
      quoteId,
      authorization: { value: '1000001', validBefore: inSeconds(310) },
      bank: { accountHolderName: '  Sari Dewi ' },
    })
    const { ok } = await fixture.create(asked)
    expect(ok).toMatchObject({ ausd: '1000001', fiat: '16250' })
    const row = await fixture.row(ok!.payoutId)
    expect(row).toMatchObject({ state: 'taking', fiatMinor: 16_250n, bankDetailsKeyId: 'a' })
    expect(JSON.stringify({ ...row, ausdMicro: 0, fiatMinor: 0, feeMinor: 0, rateMinorPerUsd: 0 })).not.toMatch(
      /1234567890|Sari/,
    )
    expect(await fixture.sent(ok!.payoutId)).toEqual(['relay.take'])
  })

  test('has the same response for a retry of wallet and body in any spelling, also concurrently', async () => {
    const asked = fixture.request()
    const first = await fixture.create(asked)
    const upper = { ...asked, quoteId: asked.quoteId.toUpperCase() }
    const repeats = await Promise.all([upper, asked, asked].map((again) => fixture.create(again)))
    for (const repeat of repeats) expect(repeat).toEqual(first)
    const together = fixture.request()
    const answers = await Promise.all([together, together, together].map((one) => fixture.create(one)))
    expect(new Set(answers.map((answer) => answer.ok?.payoutId)).size).toBe(1)
  })

  test("security: is checked against the database's time, not the clock of the process", async () => {
    const ends = { authorization: { validBefore: inSeconds(60) } }
    const begins = { authorization: { validAfter: inSeconds(600) } }
    const { now } = Date
    for (const [aheadMs, change, refused] of [
      [-3_600_000, ends, 'valid_before_too_near'],
      [3_600_000, begins, 'valid_after_not_reached'],
    ] as const) {
      const asked = fixture.request(change)
      const clock = spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
      try {
        expect(await fixture.create(asked)).toEqual({ refused })
      } finally {
        clock.mockRestore()
      }
    }
  })

  test('is refused in the second in which its authorization begins, as the token refuses it, and accepted in the next', async () => {
    const asked = fixture.request({ authorization: { validAfter: inSeconds(60) } })
    const begins = Number(asked.authorization.validAfter) * 1_000
    expect(await fixture.create(asked, { clock: () => begins + 999 })).toEqual({ refused: 'valid_after_not_reached' })
    expect(await fixture.create(asked, { clock: () => begins + 1_000 })).toHaveProperty('ok')
  })

  test('has the same response after its quote and its authorization have expired', async () => {
    const asked = fixture.request()
    const first = await fixture.create(asked)
    fixture.quotes.delete(asked.quoteId)
    expect(await fixture.create(asked, { clock: () => Date.now() + 7_200_000 })).toEqual(first)
  })

  // guard: a quote that made a cash-out serves no other request
  test.each([
    ['another wallet', { wallet: other }],
    ['another body', { bank: { accountNumber: '999999' } }],
  ])('keeps its quote from %s', async (_, change) => {
    const asked = fixture.request()
    await fixture.create(asked)
    const theirs = fixture.request({ ...change, quoteId: asked.quoteId })
    expect(await fixture.create(theirs)).toEqual({ refused: 'quote_used' })
  })

  // guard: a signed transfer pays one cash-out
  test('keeps its authorization from a second quote, which stays unused', async () => {
    const asked = fixture.request()
    await fixture.create(asked)
    const again = { ...asked, quoteId: fixture.quote() }
    expect(await fixture.create(again)).toEqual({ refused: 'authorization_conflict' })
    expect(fixture.quotes.get(again.quoteId)?.requestFingerprint).toBeUndefined()
  })
})

// guard: a cash-out takes its quote before it is accepted
test('an accepted cash-out takes its quote, which no top-up can take', async () => {
  const asked = fixture.request()
  expect(await fixture.create(asked)).toHaveProperty('ok')
  expect(fixture.quotes.get(asked.quoteId)!.requestFingerprint).toBeDefined()
})

// guard: a wallet's cash-outs of a day are counted under its lock
// together with: rupiah are promised one at a time across all instances
// guard: a wallet's cash-outs of a day have a limit
test('security: of ten concurrent cash-outs, with a limit of two a day, two are accepted', async () => {
  const person = `0x${'7'.repeat(40)}`
  const asked = Array.from({ length: 10 }, (_, at) =>
    fixture.request({
      wallet: person,
      authorization: { from: person },
      bank: { accountNumber: `77000${at}` },
    }),
  )
  const limit = { dayMicroMax: 10_000_000n }
  const answers = await Promise.all(asked.map((one) => fixture.create(one, limit)))
  expect(answers.filter(({ ok }) => ok)).toHaveLength(2)
  const left = { day: `${10n ** 11n}`, left: `${10n ** 11n - 10_000_000n}` }
  expect(await fixture.limit({ wallet: person })).toMatchObject({ ok: left })
  expect(await fixture.limit({ wallet: `0x${'9'.repeat(40)}` })).toMatchObject({
    ok: { left: `${10n ** 11n}` },
  })
  for (const [at, { ok, refused }] of answers.entries()) {
    if (ok) continue
    expect(refused).toBe('day_limit_reached')
    expect(fixture.quotes.get(asked[at]!.quoteId)!.requestFingerprint).toBeUndefined()
  }
})

describe('security: while the market of the rupiah is closed', () => {
  /** Asks for 5 AUSD at a rate below the reference, as only quotes of a closed market have. */
  const asked = (digit: string, spreadBps = -50) => {
    const person = `0x5e${digit.repeat(38)}`
    return fixture.request({
      wallet: person,
      authorization: { from: person },
      quoteId: fixture.quote('USD/IDR', '16168', spreadBps),
      bank: { accountNumber: `99000${digit.codePointAt(0)}` },
    })
  }
  const refused = { refused: 'cashout_rate_unavailable' } as const
  const limit = (ofAll: bigint, ofWallet: bigint) => ({ closedMicroMax: { ofAll, ofWallet } })
  // The sums are of the whole table, so earlier cash-outs become ones of an open market.
  beforeEach(() =>
    fixture.context.database.run((db) => db.execute('update payouts.payouts set spread_bps = 0 where spread_bps < 0')),
  )

  test('there are no cash-outs by default', async () => {
    expect(await fixture.create(asked('a'))).toEqual(refused)
    expect(await fixture.create(asked('a', 0))).toHaveProperty('ok')
  })

  // guard: cash-outs while the market is closed have a limit of their own
  // guard: cash-outs while the market is closed are counted one after another
  // together with: rupiah are promised one at a time across all instances
  test('all wallets together cash out no more than the limit of a day, also at the same time', async () => {
    const answers = await Promise.all(
      [...'abcdef'].map((digit) => fixture.create(asked(digit), limit(15_000_000n, 10n ** 9n))),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3)
    expect(answers.filter((answer) => answer.refused === refused.refused)).toHaveLength(3)
    expect(await fixture.create(asked('f', 0), limit(15_000_000n, 10n ** 9n))).toHaveProperty('ok')
  })

  // guard: a wallet's cash-outs while the market is closed have a limit of their own
  test('one wallet cashes out no more than its own limit of a day', async () => {
    const closed = limit(10n ** 9n, 10_000_000n)
    for (const at of [1, 2, 3]) {
      const answer = await fixture.create(asked('a'), closed)
      if (at < 3) expect(answer).toHaveProperty('ok')
      else expect(answer).toEqual(refused)
    }
    expect(await fixture.create(asked('b'), closed)).toHaveProperty('ok')
  })

  test('a cash-out that came to nothing leaves room for another', async () => {
    const one = limit(5_000_000n, 5_000_000n)
    const { payoutId } = (await fixture.create(asked('a'), one)).ok!
    expect(await fixture.create(asked('b'), one)).toEqual(refused)
    await fixture.relayed('take', payoutId, 'balance_too_low')
    expect(await fixture.create(asked('b'), one)).toHaveProperty('ok')
  })
})

describe('a cash-out whose quote has a fee', () => {
  const fee = { fixed: '5550', bps: 25 }
  const ask = (digit: string, value: string, cashoutFee = fee) => {
    const person = `0xfe${digit.repeat(38)}`
    const asked = fixture.request({
      wallet: person,
      authorization: { from: person, value },
      bank: { accountNumber: `96000${digit.codePointAt(0)}` },
    })
    fixture.quotes.get(asked.quoteId)!.cashoutFee = cashoutFee
    return asked
  }

  test('pays out the worth of the AUSD less the fee, and names the fee in its response and in the activity', async () => {
    const asked = ask('a', '5000000')
    // 5 AUSD are worth Rp 81,250, of which 0.25 % are Rp 203.125.
    const answer = await fixture.create(asked)
    expect(answer.ok).toMatchObject({ ausd: '5000000', fiat: '75496', fee: '5754' })
    const { payoutId } = answer.ok!
    expect(await fixture.row(payoutId)).toMatchObject({ fiatMinor: 75_496n, feeMinor: 5_754n })
    expect(await fixture.create(asked)).toEqual(answer)
    expect(await fixture.item({ wallet: asked.wallet, id: payoutId } as never)).toMatchObject({
      ok: { item: { fiat: '75496', fee: '5754' } },
    })
  })

  test('names no fee once its AUSD stays in the wallet or goes back, because none is charged', async () => {
    const item = async (asked: { wallet: string }, id: string) => {
      const { ok } = (await fixture.item({ wallet: asked.wallet, id } as never)) as { ok: { item: object } }
      return ok.item
    }
    const [failing, returning] = [ask('e', '5000000'), ask('f', '5000000')]
    const [failed, returned] = [
      (await fixture.create(failing)).ok!.payoutId,
      (await fixture.create({ ...returning, bank: { ...returning.bank, accountNumber: '999999' } })).ok!.payoutId,
    ]
    await fixture.relayed('take', failed, 'balance_too_low')
    await fixture.relayed('take', returned)
    expect(await item(failing, failed)).toMatchObject({ status: 'failed', fiat: '75496' })
    expect(await item(failing, failed)).not.toHaveProperty('fee')
    await fixture.until(returned, 'returning')
    expect(await item(returning, returned)).not.toHaveProperty('fee')
    await fixture.relayed('return', returned)
    expect(await item(returning, returned)).toMatchObject({ status: 'returned' })
    expect(await item(returning, returned)).not.toHaveProperty('fee')
    const period = { wallet: returning.wallet, from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' }
    const { ok } = (await fixture.statement(period as never)) as { ok: { items: { kind: string; fee?: string }[] } }
    expect(ok.items.map(({ kind, fee }) => [kind, fee])).toEqual([
      ['cashout', '5754'],
      ['cashout_returning', undefined],
      ['cashout_returned', undefined],
    ])
  })

  test('pays out at least the minimum after the fee', async () => {
    const free = { fixed: '0', bps: 0 }
    expect(await fixture.create(ask('b', '900000'))).toEqual({ refused: 'payout_below_minimum' })
    const { ok } = await fixture.create(ask('b', '900000', free))
    expect(ok).toMatchObject({ fiat: '14625' })
    expect(ok).not.toHaveProperty('fee')
  })

  test('is refused if the fee exceeds the worth of the AUSD', async () => {
    expect(await fixture.create(ask('c', '100000', { fixed: '100000', bps: 1_000 }))).toEqual({
      refused: 'payout_below_minimum',
    })
  })

  test("earns at least the provider's list price of a disbursement, Rp 5,000 and 11 % tax, however small", async () => {
    const listed = { fixed: '5550', bps: 0 }
    const { ok } = await fixture.create(ask('d', '956924', listed))
    expect(ok).toMatchObject({ fiat: '10000', fee: '5550' })
  })
})

describe('a wallet that has not accepted the current terms', () => {
  const termsMissing = true as const
  const asked = (digit: string) => {
    const person = `0x7e${digit.repeat(38)}`
    return fixture.request({
      wallet: person,
      authorization: { from: person },
      bank: { accountNumber: `97000${digit.codePointAt(0)}` },
    })
  }

  test('cashes nothing out, and its quote stays unused', async () => {
    const first = asked('a')
    expect(await fixture.create({ ...first, termsMissing })).toEqual({ refused: 'terms_not_accepted' })
    expect(fixture.quotes.get(first.quoteId)!.requestFingerprint).toBeUndefined()
    expect(await fixture.create(first)).toHaveProperty('ok')
  })

  test('gets the first response to a cash-out that was accepted before', async () => {
    const first = asked('b')
    const accepted = await fixture.create(first)
    expect(accepted).toHaveProperty('ok')
    expect(await fixture.create({ ...first, termsMissing })).toEqual(accepted)
    const { authorization } = asked('b')
    const other = { ...first, authorization, termsMissing }
    expect(await fixture.create(other)).toEqual({ refused: 'quote_used' })
  })
})

describe('during a pilot', () => {
  const asked = (digit: string) => {
    const person = `0x6f${digit.repeat(38)}`
    return fixture.request({
      wallet: person,
      authorization: { from: person },
      bank: { accountNumber: `98000${digit.codePointAt(0)}` },
    })
  }

  // guard: during a pilot, only invited wallets cash out
  test('only an invited wallet cashes out; a repeated request gets its first response', async () => {
    const first = asked('a')
    const accepted = await fixture.create(first)
    const pilot = { pilot: new Set([`0x6f${'b'.repeat(38)}`]) }
    expect(await fixture.create(asked('b'), pilot)).toHaveProperty('ok')
    const refused = asked('c')
    expect(await fixture.create(refused, pilot)).toEqual({ refused: 'not_in_pilot' })
    expect(fixture.quotes.get(refused.quoteId)!.requestFingerprint).toBeUndefined()
    expect(await fixture.create(first, pilot)).toEqual(accepted)
  })

  // guard: the cash-outs of all wallets of a day have a limit
  // guard: the cash-outs of all wallets of a day are counted one after another
  // together with: rupiah are promised one at a time across all instances
  test('all wallets together cash out no more than the limit of a day, also at the same time', async () => {
    const sum = await fixture.database.transaction((tx) => sumAllOfDay(tx))
    const limit = { allDayMicroMax: sum + 15_000_000n }
    const answers = await Promise.all([...'abcdef'].map((digit) => fixture.create(asked(digit), limit)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3)
    expect(answers.filter(({ refused }) => refused === 'day_limit_of_all_reached')).toHaveLength(3)
  })
})

describe('security: the daily limits also hold for a bank account', () => {
  const to = (accountNumber: string, wallet: string, channelCode = 'ID_BCA') =>
    fixture.request({
      wallet,
      authorization: { from: wallet },
      bank: { accountNumber, channelCode },
    })
  const walletOf = (at: number) => `0x${String(at).repeat(40)}`
  const limit = { dayMicroMax: 10_000_000n }

  // guard: a bank account's cash-outs of a day are counted over all wallets
  // guard: a bank account's cash-outs are counted one after another
  // together with: rupiah are promised one at a time across all instances
  test('with four concurrent wallets: two are paid to one account, and others to another', async () => {
    const asked = [1, 2, 3, 4].map((at) => to('8800001', walletOf(at)))
    const answers = await Promise.all(asked.map((one) => fixture.create(one, limit)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2)
    expect(answers.filter(({ refused }) => refused === 'day_limit_reached')).toHaveLength(2)
    expect(await fixture.create(to('0008800001', walletOf(5)), limit)).toEqual({
      refused: 'day_limit_reached',
    })
    expect(await fixture.create(to('8800002', walletOf(5)), limit)).toHaveProperty('ok')
    expect(await fixture.create(to('8800001', walletOf(5), 'ID_BNI'), limit)).toHaveProperty('ok')
  })

  test('after a rotation of the keys, while the account number stays sealed', async () => {
    const keys = [1, 2].map((fill) => ({ id: `k${fill}`, key: Buffer.alloc(32, fill) }))
    const before = { ...limit, safe: openDetailsSafe([keys[0]!]) }
    const after = { ...limit, safe: openDetailsSafe([keys[1]!, keys[0]!]) }
    for (const at of [1, 2]) {
      const { payoutId } = (await fixture.create(to('8800003', walletOf(at)), before)).ok!
      expect((await fixture.row(payoutId)).accountMark).toMatch(/^[\w-]{43}$/)
    }
    expect(await fixture.create(to('8800003', walletOf(3)), after)).toEqual({
      refused: 'day_limit_reached',
    })
  })

  test('without counting a failed cash-out', async () => {
    const one = { dayMicroMax: 5_000_000n }
    const [first, second] = ['c', 'd'].map((digit) => to('8800004', `0x${digit.repeat(40)}`))
    const { payoutId } = (await fixture.create(first!, one)).ok!
    await fixture.relayed('take', payoutId, 'balance_too_low')
    expect(await fixture.create(second!, one)).toHaveProperty('ok')
  })
})

describe('security: one wallet balance', () => {
  const person = `0x${'6'.repeat(40)}`
  const request = () => fixture.request({ wallet: person, authorization: { from: person } })
  afterEach(() => Object.assign(fixture.chain, unlimited))

  // guard: one balance serves one cash-out
  test('serves one of twenty concurrent cash-outs', async () => {
    fixture.chain.free = '5000000'
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.create(request())))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(answers.filter(({ refused }) => refused === 'balance_too_low')).toHaveLength(19)
  })

  test('is not reduced twice by a take that the relayer already counts', async () => {
    const wallet = `0x${'e'.repeat(40)}`
    const of = () => fixture.request({ wallet, authorization: { from: wallet } })
    fixture.chain.free = '10000000'
    const first = of()
    expect(await fixture.create(first)).toHaveProperty('ok')
    fixture.chain.free = '5000000'
    expect(await fixture.create(of())).toEqual({ refused: 'balance_too_low' })
    fixture.chain.counted = [first.authorization.nonce]
    expect(await fixture.create(of())).toHaveProperty('ok')
  })
})

test('a repeated cash-out that is delayed until the first was taken gets the response of the first', async () => {
  const asked = fixture.request()
  const isHeld = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const ask: Ask = async (question, request, deadlineMs) => {
    if (question.subject === AuthorizationCheck.subject) {
      isHeld.resolve()
      await first.promise
      return refuse('nonce_used')
    }
    return fixture.context.ask(question, request, deadlineMs)
  }
  const held = fixture.create(asked, { ask })
  await isHeld.promise
  const answer = await fixture.create(asked)
  first.resolve()
  expect(await held).toEqual(answer)
})
