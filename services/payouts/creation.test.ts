import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Unavailable } from '#shared/bus/ask'
import { AuthorizationCheck } from '#shared/messages/chain'
import type { RefusalCode } from '#shared/refusals'
import { openRig, type Rig } from './rig.test.ts'

let rig: Rig
beforeAll(async () => {
  rig = await openRig({ sweepAfterMs: 60_000 })
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds)
const other = '0x1111111111111111111111111111111111111111'

/** Everything wrong at once, mended from the top: each row shows the first rule still broken. */
const mendings: [RefusalCode, (rig: Rig) => object][] = [
  ['wallet_not_from', () => ({})],
  ['to_not_treasury', () => ({ wallet: undefined })],
  ['value_zero', () => ({ authorization: { to: undefined } })],
  ['valid_after_not_reached', () => ({ authorization: { value: '615384' } })],
  ['valid_before_too_near', () => ({ authorization: { validAfter: '0' } })],
  ['quote_unknown', () => ({ authorization: { validBefore: inSeconds(301) } })],
  ['quote_not_idr', (rig) => ({ quoteId: rig.quote('USD/MYR', '421') })],
  ['payout_below_minimum', (rig) => ({ quoteId: rig.quote() })],
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
const clean = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

describe('a cash-out is refused for the first rule it breaks, in this order', () => {
  test.each(mendings.map(([code], step) => [step + 1, code] as const))(
    '%p: %s',
    async (step, code) => {
      const wrong = everythingWrong()
      for (const [, mend] of mendings.slice(0, step)) {
        const { authorization, bank, ...rest } = mend(rig) as Partial<Wrong>
        Object.assign(wrong, rest)
        wrong.authorization = clean({ ...wrong.authorization, ...authorization })
        wrong.bank = { ...wrong.bank, ...bank }
      }
      const before = (await rig.rows()).length
      rig.chain.refused = 'signature_invalid'
      const asked = rig.request(clean(wrong))
      expect(await rig.create(asked)).toEqual({ refused: code })
      expect(rig.quotes.get(asked.quoteId)?.takenBy).toBeUndefined()
      expect(await rig.rows()).toHaveLength(before)
      delete rig.chain.refused
    },
  )

  test.each(['balance_too_low', 'nonce_used', 'chain_unavailable'] as const)(
    'and for what the chain says: %s',
    async (code) => {
      rig.chain.refused = code
      const asked = rig.request()
      expect(await rig.create(asked)).toEqual({ refused: code })
      delete rig.chain.refused
      expect(await rig.create(asked)).toHaveProperty('ok') // The quote was not used up.
    },
  )

  test('403 wallet_frozen, after everything that is answered 400; the quote stays unused', async () => {
    rig.chain.refused = 'wallet_frozen'
    for (const [wrong, code] of [
      [{ authorization: { to: other } }, 'to_not_treasury'],
      [{ quoteId: crypto.randomUUID() }, 'quote_unknown'],
      [{ authorization: { value: '1' } }, 'payout_below_minimum'],
      [{ bank: { channelCode: 'ID_NOWHERE' } }, 'bank_unknown'],
    ] as const)
      expect(await rig.create(rig.request(wrong))).toEqual({ refused: code })
    const asked = rig.request()
    const before = (await rig.rows()).length
    expect(await rig.create(asked)).toEqual({ refused: 'wallet_frozen' })
    expect(rig.quotes.get(asked.quoteId)?.takenBy).toBeUndefined()
    expect(await rig.rows()).toHaveLength(before)
    delete rig.chain.refused
    expect(await rig.create(asked)).toHaveProperty('ok') // Made good: the same quote serves.
  })

  test('a frozen wallet that sends an authorization twice hears that first', async () => {
    const asked = rig.request()
    await rig.create(asked)
    rig.chain.refused = 'wallet_frozen'
    const again = { ...asked, quoteId: rig.quote() }
    expect(await rig.create(again)).toEqual({ refused: 'authorization_conflict' })
    delete rig.chain.refused
  })

  test('not at all, when it was accepted before the wallet was frozen', async () => {
    const asked = rig.request()
    const first = await rig.create(asked)
    rig.chain.refused = 'wallet_frozen'
    expect(await rig.create(asked)).toEqual(first)
    delete rig.chain.refused
  })

  test('an expired quote, and one that somebody else took', async () => {
    const [expired, used] = [rig.request(), rig.request()]
    rig.quotes.get(expired.quoteId)!.over = true
    rig.quotes.get(used.quoteId)!.takenBy = 'somebody'
    expect(await rig.create(expired)).toEqual({ refused: 'quote_expired' })
    expect(await rig.create(used)).toEqual({ refused: 'quote_used' })
  })

  test('a chain service that does not answer', async () => {
    const ask = ((question, ...rest) => {
      if (question.subject === AuthorizationCheck.subject) throw new Unavailable('not there')
      return rig.ask(question, ...rest)
    }) as Rig['ask']
    expect(await rig.create(rig.request(), { ask })).toEqual({ refused: 'chain_unavailable' })
  })

  test('a list of banks that never came', async () => {
    const channels = { find: () => Promise.reject(new Error('no list')) }
    expect(await rig.create(rig.request(), { channels })).toEqual({
      refused: 'provider_unavailable',
    })
  })

  test.each([
    ['lenient', '123456', undefined],
    ['strict', '123456', 'bank_account_format'],
    ['strict', '1234567890', undefined],
  ] as const)(
    '%s about lengths, account %s at BCA: %p',
    async (accountLengths, accountNumber, code) => {
      const asked = rig.request({ bank: { accountNumber } })
      expect((await rig.create(asked, { accountLengths })).refused).toBe(code)
    },
  )
})

describe('an accepted cash-out', () => {
  test('is stored with its order in one go, priced down, and says nothing of the account', async () => {
    const quoteId = rig.quote('USD/IDR', '16250')
    const asked = rig.request({
      quoteId,
      authorization: { value: '1000001', validBefore: inSeconds(300) },
      bank: { accountHolderName: '  Sari Dewi ' },
    })
    const { ok } = await rig.create(asked)
    expect(ok).toMatchObject({ ausd: '1000001', fiat: '16250' })
    const row = await rig.row(ok!.payoutId)
    expect(row).toMatchObject({ state: 'taking', fiatMinor: 16_250n, bankDetailsKeyId: 'a' })
    expect(JSON.stringify({ ...row, ausdMicro: 0, fiatMinor: 0, rateMinorPerUsd: 0 })).not.toMatch(
      /1234567890|Sari/,
    )
    expect(await rig.sent(ok!.payoutId)).toEqual(['relay.take'])
  })

  test('is answered again to the same wallet and body, whatever the spelling, also at once', async () => {
    const asked = rig.request()
    const first = await rig.create(asked)
    const upper = { ...asked, quoteId: asked.quoteId.toUpperCase() }
    const repeats = await Promise.all([upper, asked, asked].map((again) => rig.create(again)))
    for (const repeat of repeats) expect(repeat).toEqual(first)
    const together = rig.request()
    const answers = await Promise.all([together, together, together].map((one) => rig.create(one)))
    expect(new Set(answers.map((answer) => answer.ok?.payoutId)).size).toBe(1)
  })

  test('is answered again after its quote and its authorization have run out', async () => {
    const asked = rig.request()
    const first = await rig.create(asked)
    rig.quotes.delete(asked.quoteId)
    expect(await rig.create(asked, { clock: () => Date.now() + 7_200_000 })).toEqual(first)
  })

  test.each([
    ['another wallet', { wallet: other }],
    ['another body', { bank: { accountNumber: '999999' } }],
  ])('keeps its quote from %s', async (_, change) => {
    const asked = rig.request()
    await rig.create(asked)
    const theirs = rig.request({ ...change, quoteId: asked.quoteId })
    expect(await rig.create(theirs)).toEqual({ refused: 'quote_used' })
  })

  test('keeps its authorization from a second quote, which stays free', async () => {
    const asked = rig.request()
    await rig.create(asked)
    const again = { ...asked, quoteId: rig.quote() }
    expect(await rig.create(again)).toEqual({ refused: 'authorization_conflict' })
    expect(rig.quotes.get(again.quoteId)?.takenBy).toBeUndefined()
  })
})
