import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { RelayKind } from '#shared/messages/relay'
import { lockWallet, recordPayment } from '../payment.store'
import { journal, outbox } from '../schema.store'
import { newWallet, openFixture, waitUntil } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.rest()
  fixture.present.set('USD/IDR', '16250')
  await fixture.control('faults', {})
})

const isFrozen = (wallet: `0x${string}`) =>
  waitUntil(`${wallet} being frozen`, async () => (await fixture.walletRow(wallet))?.frozen)
const freezes = async (wallet: string) => {
  const sent = await fixture.database.read((db) => db.select().from(outbox).orderBy(outbox.position))
  return sent
    .filter(({ subject }) => subject === 'relay.freeze')
    .map(({ payload }) => payload as { wallet: string; frozen: boolean; revision: string })
    .filter((payload) => payload.wallet === wallet)
}
const missingOf = async (wallet: string) =>
  (await fixture.reversals())
    .filter((row) => row.wallet === wallet && row.clearedAt === null)
    .reduce((sum, row) => sum + row.lostMicro - row.madeGoodMicro, 0n)

type PaymentOptions = { channel?: string; amount?: string; kind?: 'topup' | 'settlement' }
async function opened(wallet: string, { amount = '50000', kind = 'topup' }: PaymentOptions = {}) {
  const quoteId = fixture.quote()
  const answer =
    kind === 'topup'
      ? await fixture.topup({ wallet, amount, method: 'qr', quoteId })
      : await fixture.settlement({ wallet, quoteId })
  return answer.ok!.paymentId
}
async function credited(wallet: string, terms: PaymentOptions = {}): Promise<string> {
  const id = await opened(wallet, terms)
  const { channel = 'QRIS', kind = 'topup' } = terms
  await fixture.control(`sessions/${id}/pay`, { channel_code: channel, force: true })
  await fixture.becomes(id, { state: 'paid' })
  const order: RelayKind = kind === 'topup' ? 'credit' : 'repay'
  await fixture.settle(order, id)
  return id
}
const refund = (id: string, body: object = {}) => fixture.control(`payments/${id}/refund`, body)

describe('a wallet that an operator froze by hand', () => {
  test('is frozen on the chain without any loss, and free again once the operator ends it', async () => {
    const wallet = newWallet()
    expect((await fixture.freeze(wallet, 'frozen', '0')).ok!.done).toContain('is frozen by an operator')
    expect((await fixture.freeze(wallet, 'frozen', '0')).ok!.done).toContain('is frozen by an operator')
    expect(await freezes(wallet)).toMatchObject([{ frozen: true }])
    expect((await fixture.freeze(wallet, 'free')).ok!.done).not.toContain('stays frozen')
    expect(await freezes(wallet)).toMatchObject([{ frozen: true }, { frozen: false }])
  })

  // guard: what an operator froze is freed by an operator alone
  test('stays frozen when its loss is repaid or cleared, until the operator ends it', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await fixture.freeze(wallet, 'frozen', '0')
    await refund(id)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    const repaying = await opened(wallet)
    await fixture.control(`sessions/${repaying}/pay`, { channel_code: 'QRIS', force: true })
    await waitUntil('the loss being repaid', async () => (await missingOf(wallet)) === 0n)
    expect((await fixture.clear(wallet)).ok!.done).toContain('stays frozen by an operator')
    expect((await fixture.walletRow(wallet))!.frozen).toBe(true)
    await fixture.freeze(wallet, 'free')
    expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
  })

  test('stays frozen for what it owes when the operator ends it', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await fixture.freeze(wallet, 'frozen', '0')
    await refund(id)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    expect((await fixture.freeze(wallet, 'free')).ok!.done).toContain('stays frozen for what it owes')
    expect((await fixture.walletRow(wallet))!).toMatchObject({ frozen: true, frozenByOperator: false })
  })

  // guard: an operator changes only a freeze that was seen
  test('is not changed by a late command that has not seen the newest freeze', async () => {
    const wallet = newWallet()
    await fixture.freeze(wallet, 'frozen', '0')
    await fixture.freeze(wallet, 'free')
    expect((await fixture.freeze(wallet, 'frozen', '0')).ok!.refused).toContain('has changed: look again')
    expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
  })
})

describe('money reversed after its hold', () => {
  test.each(['topup', 'settlement'] as const)('of a %s freezes the wallet', async (kind) => {
    const wallet = newWallet()
    const id = await credited(wallet, { kind })
    await refund(id)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await isFrozen(wallet)
    expect(await freezes(wallet)).toMatchObject([{ wallet, frozen: true }])
    expect(await missingOf(wallet)).toBe((await fixture.row(id))!.ausdMicro)
  })

  test('shows the missing amount to the user until it is recovered', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await refund(id, { amount: 20_000 })
    await isFrozen(wallet)
    const told = async () => {
      const { items } = (await fixture.activity({ wallet, limit: 10 })).ok!
      const { sentence, nextAction } = items.find((item) => item.id === id)!
      return `${nextAction}: ${sentence}`
    }
    expect(await told()).toMatch(/^contact support: .* You owe 1\.230770 AUSD for this reversed payment/)
    await credited(wallet)
    expect(await told()).toMatch(/^null: .* You no longer owe anything for this reversed payment\.$/)
  })

  test('in two parts is owed in two parts, and freezes once', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await refund(id, { amount: 20_000 })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(1_230_770n)
    await refund(id, { amount: 30_000 })
    await waitUntil('all being missing', async () => (await missingOf(wallet)) === 3_076_923n)
    expect((await freezes(wallet)).length).toBe(1)
  })

  test('by a late revocation freezes too', async () => {
    const wallet = newWallet()
    const id = await credited(wallet, { channel: 'CARDS' })
    await refund(id)
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id, true)
    await fixture.becomes(id, { state: 'review', reason: 'revoke_failed' })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  test('by the second of two late revocations freezes for that part', async () => {
    const wallet = newWallet()
    const id = await credited(wallet, { channel: 'CARDS' })
    await refund(id, { amount: 20_000 })
    await fixture.becomes(id, { state: 'revoking' })
    await refund(id, { amount: 10_000 })
    await fixture.becomes(id, { refundedMinor: 30_000n })
    await fixture.settle('revoke', `${id}:1846153`)
    await fixture.becomes(id, { state: 'revoking', leftMicro: 1_230_769n })
    await fixture.settle('revoke', `${id}:1230769`, true)
    await fixture.becomes(id, {
      state: 'review',
      reason: 'revoke_failed',
      onchainMicro: 1_846_153n,
    })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(1_846_153n - 1_230_769n)
  })

  test('by a chargeback, which has no webhook, is found in the list', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await fixture.control(`payments/${id}/chargeback`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    await isFrozen(wallet)
    await fixture.list()
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  test('freezes the wallet also while a second payment is in review', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    const { providerPaymentId } = (await fixture.row(id))!
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    await refund(providerPaymentId!)
    await isFrozen(wallet)
  })
})

describe('no wallet is frozen by', () => {
  test('a refund before the credit', async () => {
    const wallet = newWallet()
    await fixture.control('faults', { webhooks: { only: ['refund.succeeded'] } })
    const id = await opened(wallet)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'CARDS', force: true })
    await refund(id)
    await fixture.becomes(id, { state: 'refunded' })
    expect(await fixture.walletRow(wallet)).toBeUndefined()
  })

  test('a refund of money that was never credited', async () => {
    const wallet = newWallet()
    await fixture.control('faults', { api: { wrongAmount: 1 } })
    const id = await opened(wallet)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    await fixture.control('faults', {})
    await refund(id)
    await waitUntil('the refund being counted', async () => (await fixture.row(id))!.refundedMinor > 0n)
    expect(await fixture.walletRow(wallet)).toBeUndefined()
  })

  test('a refund revoked on the chain, of a payment that was made twice', async () => {
    const wallet = newWallet()
    const id = await credited(wallet, { channel: 'CARDS' })
    await fixture.database.run((db) => recordPayment(db, id, { overpaidMinor: 50_000n }))
    await refund(id)
    await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice', onchainMicro: 0n })
    expect(await missingOf(wallet)).toBe(0n)
    expect(await fixture.walletRow(wallet)).toBeUndefined()
  })

  test('a refund ordered by an operator', async () => {
    const wallet = newWallet()
    const id = await credited(wallet)
    await refund(id, { reference_id: `ordered-${id}`, amount: 20_000 })
    await waitUntil('the refund being counted', async () => (await fixture.row(id))!.refundedMinor > 0n)
    expect(await fixture.row(id)).toMatchObject({ state: 'credited', writtenOffMicro: 1_230_770n })
    expect(await fixture.walletRow(wallet)).toBeUndefined()
    // A further refund, which we did not order, does freeze the wallet.
    await refund(id, { amount: 30_000 })
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(1_846_153n)
  })
})

describe('a frozen wallet', () => {
  async function freeze(wallet: `0x${string}`) {
    const id = await credited(wallet)
    await refund(id)
    await isFrozen(wallet)
  }
  async function frozen() {
    const wallet = newWallet()
    await freeze(wallet)
    return wallet
  }

  // guard: a frozen wallet cannot pay by card
  test('is refused cards only, and its quote stays unused', async () => {
    const wallet = await frozen()
    const quoteId = fixture.quote()
    const asked = { wallet, amount: '50000', quoteId }
    expect(await fixture.topup({ ...asked, method: 'card' })).toEqual({ refused: 'wallet_frozen' })
    expect(await fixture.topup({ ...asked, method: 'bank' })).toHaveProperty('ok')
    expect(await fixture.settlement({ wallet, quoteId: fixture.quote() })).toHaveProperty('ok')
  })

  test('is refused cards also when only the chain has the freeze', async () => {
    fixture.chain.frozen = true
    const asked = { wallet: newWallet(), amount: '50000', quoteId: fixture.quote() }
    expect(await fixture.topup({ ...asked, method: 'card' })).toEqual({ refused: 'wallet_in_doubt' })
  })

  test('recovers exactly the missing amount; the rest is credited', async () => {
    const wallet = await frozen()
    const first = await opened(wallet, { amount: '20000' })
    await fixture.control(`sessions/${first}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(first, { state: 'credited', reason: 'made_good', onchainMicro: 0n })
    expect((await fixture.orders(first)).map(({ subject }) => subject)).not.toContain('relay.credit')
    expect(await missingOf(wallet)).toBe(3_076_923n - 1_230_769n)
    expect((await fixture.walletRow(wallet))!.frozen).toBe(true)
    const second = await opened(wallet, { amount: '100000' })
    await fixture.control(`sessions/${second}/pay`, {
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
      force: true,
    })
    const row = await fixture.becomes(second, { state: 'paid', reason: 'made_good' })
    expect([row.recoveredMicro, row.onchainMicro]).toEqual([1_846_154n, 4_307_692n])
    const [order] = (await fixture.orders(second)).filter(({ subject }) => subject === 'relay.credit')
    expect(order!.payload).toMatchObject({ ausd: '4307692', held: false })
    expect(await missingOf(wallet)).toBe(0n)
    expect((await freezes(wallet)).map(({ frozen }) => frozen)).toEqual([true, false])
    const [on, off] = await freezes(wallet)
    expect(BigInt(off!.revision)).toBeGreaterThan(BigInt(on!.revision))
  })

  describe('whose top-up repaid its loss, but could not be credited,', () => {
    /** Pays 100,000, of which one half repaid the loss and the other half is not on the chain. */
    async function halfCredited(refundedMinor: bigint) {
      const wallet = await frozen()
      const id = await opened(wallet, { amount: '100000' })
      await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
      const shares = { recoveredMicro: 3_076_923n, onchainMicro: 3_076_923n }
      await fixture.becomes(id, { state: 'paid', ...shares })
      await fixture.settle('credit', id, true)
      await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
      await refund(id, { amount: Number(refundedMinor) })
      await fixture.becomes(id, { refundedMinor })
      return { wallet, id }
    }

    test('gets its late money at the rate of its arrival, whatever the rate is now', async () => {
      fixture.time.aheadMs = 0
      const wallet = await frozen()
      const id = await opened(wallet, { amount: '100000' })
      await fixture.control(`sessions/${id}/expire`)
      await fixture.becomes(id, { state: 'expired' })
      await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
      await fixture.becomes(id, { state: 'paid', recoveredMicro: 3_076_923n })
      await fixture.settle('credit', id, true)
      await fixture.becomes(id, { state: 'review', reason: 'credit_failed' })
      for (const rate of ['90000', null]) {
        if (rate) fixture.present.set('USD/IDR', rate)
        else fixture.present.delete('USD/IDR')
        expect((await fixture.resolve(id, 'credit')).ok!.done).toContain(': 3.076923 AUSD')
        const { refSequence } = await fixture.becomes(id, { state: 'paid', ausdMicro: 6_153_846n })
        await fixture.settle('credit', `${id}.${refSequence}`, true)
        await fixture.becomes(id, { state: 'review', recoveredMicro: 3_076_923n })
      }
    })

    test('owes nothing for a refund of the other part', async () => {
      const { wallet, id } = await halfCredited(20_000n)
      expect(await missingOf(wallet)).toBe(0n)
      expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
      expect((await fixture.resolve(id, 'credit')).ok!.done).toContain(': 1.846153 AUSD')
      await fixture.becomes(id, { state: 'paid', onchainMicro: 1_846_153n })
    })

    test.each([
      ['more than the other part', 60_000n, 615_385n],
      ['all of it', 100_000n, 3_076_923n],
    ])('owes the rest of a refund of %s, and an operator can still decide', async (_, ...back) => {
      const [refundedMinor, owedMicro] = back
      const { wallet, id } = await halfCredited(refundedMinor)
      expect(await missingOf(wallet)).toBe(owedMicro)
      expect((await fixture.resolve(id, 'credit')).ok!.done).toContain(': 0.000000 AUSD')
      await fixture.becomes(id, { state: 'credited', reason: 'made_good', onchainMicro: 0n })
      expect(await missingOf(wallet)).toBe(owedMicro)
      expect((await fixture.walletRow(wallet))!.frozen).toBe(true)
    })
  })

  // guard: a reversible payment covers no loss
  test('recovers nothing by a reversible channel', async () => {
    const wallet = await frozen()
    const id = await credited(wallet, { channel: 'DANA' })
    await fixture.becomes(id, { state: 'held', recoveredMicro: 0n, onchainMicro: 3_076_923n })
    expect((await fixture.walletRow(wallet))!.frozen).toBe(true)
  })

  test('owes the amount again after its recovery is reversed', async () => {
    const wallet = await frozen()
    const id = await opened(wallet)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(id, { state: 'credited', reason: 'made_good' })
    expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
    await refund(id)
    await isFrozen(wallet)
    expect(await missingOf(wallet)).toBe(3_076_923n)
  })

  // guard: a loss is cleared by an operator under the lock of the wallet
  test('is unfrozen once by two concurrent operators, and a further request is answered', async () => {
    const wallet = await frozen()
    const of = wallet as `0x${string}`
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const locking = fixture.database.transaction(async (tx) => {
      lockWallet(tx, wallet)
      await tx.execute(sql`select`)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    const both = Promise.all(['sari', 'dewi'].map((by) => fixture.clear(of, by)))
    both.catch(() => {}) // Without the lock, the clearing fails before it is awaited.
    const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
    await waitUntil(
      'both operators waiting for the wallet',
      async () => (await fixture.database.read((db) => db.execute(waiting))).length >= 2,
      6_000, // The transaction that holds the lock ends after 8 s.
    ).finally(release.resolve)
    await locking
    const answers = await both
    const words = answers.map(({ ok }) => ok!.done!)
    expect(words.filter((one) => one.includes('is no longer frozen'))).toHaveLength(1)
    expect(words.filter((one) => one.includes('is not frozen'))).toHaveLength(1)
    expect(await fixture.walletRow(of)).toMatchObject({ frozen: false })
    expect(await missingOf(wallet)).toBe(0n)
    expect((await freezes(wallet)).map(({ frozen }) => frozen)).toEqual([true, false])
    expect((await fixture.clear(newWallet())).ok!.refused).toContain('was never frozen')
  })

  test('security: a delayed old command lifts no newer freeze and waives no newer loss', async () => {
    const wallet = await frozen()
    const of = wallet as `0x${string}`
    const seen = await fixture.freezeOf(of)
    expect((await fixture.clear(of, 'sari', seen)).ok!.done).toContain('is no longer frozen')
    expect((await fixture.clear(of, 'sari', seen)).ok!.done).toContain('is not frozen')
    await freeze(of)
    expect((await fixture.clear(of, 'sari', seen)).ok!.refused).toContain('have changed')
    expect(await fixture.walletRow(of)).toMatchObject({ frozen: true })
    expect(await missingOf(wallet)).toBeGreaterThan(0n)
    const { revision } = await fixture.freezeOf(of)
    const lessLost = { revision, missing: '1' }
    expect((await fixture.clear(of, 'sari', lessLost)).ok!.refused).toContain('have changed')
    expect((await fixture.clear(of)).ok!.done).toContain('is no longer frozen')
  })

  describe('that an operator has cleared by mistake', () => {
    const clearedOnce = async () => {
      const wallet = await frozen()
      await fixture.clear(wallet)
      const [loss] = (await fixture.reversals()).filter((row) => row.wallet === wallet)
      return { wallet, paymentId: loss!.paymentId }
    }
    const waivedOf = async (paymentId: string) => {
      const rows = await fixture.database.read((db) =>
        db.select({ account: journal.account, amount: journal.amount, item: journal.item }).from(journal),
      )
      return rows
        .filter(({ account, item }) => account === 'waived' && item === `${paymentId}/reversal`)
        .reduce((sum, { amount }) => sum + amount, 0n)
    }

    // guard: an operator undoes only a clearing that was seen
    test('owes its loss again, in the books too, and is frozen on the chain again, once', async () => {
      const { wallet, paymentId } = await clearedOnce()
      expect([await missingOf(wallet), await waivedOf(paymentId)]).toEqual([0n, 3_076_923n])
      const clearing = String((await fixture.walletRow(wallet))!.clearedRevision)
      expect((await fixture.reclaim(wallet, '7')).ok!.refused).toContain('was cleared again: look again')
      expect((await fixture.reclaim(wallet, clearing)).ok!.done).toContain(
        `owes 3.076923 AUSD again for ${paymentId}, and is frozen`,
      )
      expect((await fixture.reclaim(wallet, clearing)).ok!.done).toContain('nothing of the latest clearing')
      expect([await missingOf(wallet), await waivedOf(paymentId)]).toEqual([3_076_923n, 0n])
      expect((await freezes(wallet)).map(({ frozen }) => frozen)).toEqual([true, false, true])
    })

    test('repays the loss by its next top-up once the clearing was undone', async () => {
      const { wallet } = await clearedOnce()
      await fixture.reclaim(wallet)
      const id = await opened(wallet)
      await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS' })
      await fixture.becomes(id, { state: 'credited', reason: 'made_good' })
      expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
      expect((await fixture.reclaim(wallet)).ok!.done).toContain('nothing of the latest clearing')
      expect((await fixture.walletRow(wallet))!.frozen).toBe(false)
    })

    test('owes only what the latest clearing waived, and not the loss of an earlier one', async () => {
      const { wallet } = await clearedOnce()
      await freeze(wallet)
      await fixture.clear(wallet)
      // A clearing of nothing, such as a repeated command, is none.
      await fixture.freeze(wallet, 'frozen')
      await fixture.clear(wallet)
      await fixture.reclaim(wallet)
      expect(await missingOf(wallet)).toBe(3_076_923n)
    })

    test('cannot be claimed from if no clearing is recorded', async () => {
      for (const wallet of [newWallet(), await frozen()])
        expect((await fixture.reclaim(wallet)).ok!.refused).toContain('no clearing of')
    })
  })

  test('has its freeze ordered again, under the same revision, until the chain has it', async () => {
    const wallet = await frozen()
    await fixture.recheck()
    const [first, again] = await freezes(wallet)
    expect(again).toEqual(first!)
    await fixture.settle('freeze', `${wallet}:${first!.revision}`, false, wallet)
    const before = (await freezes(wallet)).length
    await fixture.recheck(60_000)
    expect((await freezes(wallet)).length).toBe(before)
  })
})
