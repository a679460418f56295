import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { keptDelivery } from '#shared/provider/delivery'
import { outbox } from '../schema.store'
import { newWallet, openFixture } from '../test-support'
import { actionsOn, kinds } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(fixture.withoutWebhooks)

const { opened, given, holdFor, isExtended, refund, dispute, isFrozen } = actionsOn(fixture)
const tell = (id: string, words: object) => fixture.control(`payments/${id}/tell`, words)
const walletOf = async (id: string) => (await fixture.row(id))!.wallet
const release = () => {
  fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
}
/** 10⁻⁶ AUSD. */
const missingOf = async (id: string) =>
  (await fixture.reversals())
    .filter(({ paymentId }) => paymentId === id)
    .reduce((sum, { lostMicro, madeGoodMicro }) => sum + lostMicro - madeGoodMicro, 0n)

type Kind = 'topup' | 'settlement'
/** Its money arrived; the relayer has not reported its credit or repayment. */
async function waiting(kind: Kind, channel = 'QRIS'): Promise<string> {
  const id = await opened(kind)
  await fixture.control(`sessions/${id}/pay`, { channel_code: channel, force: true })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid' })
  return id
}
/** Paid by card; its hold is over. */
async function matured(kind: Kind): Promise<string> {
  const id = await given('CARDS', kind)
  release()
  await fixture.recheck(20_000)
  expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  return id
}
const settled = (kind: Kind, id: string) => fixture.settle(kind === 'topup' ? 'credit' : 'repay', id)

describe.each(kinds)('a %s whose order waits, paid by QR,', (kind) => {
  const given = kind === 'topup' ? 'credited' : 'repaid'

  // guard: a wallet is frozen while money that the chain cannot take back may be going back
  test('freezes its wallet as soon as its refund is known, and its order settles frozen', async () => {
    const id = await waiting(kind)
    await refund(id)
    await fixture.list()
    expect([await isFrozen(id), fixture.alarmsOf(id)]).toEqual([true, ['money may be going back, wallet frozen']])
    await settled(kind, id)
    await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit', lostHold: null })
    expect(await isFrozen(id)).toBe(true)
    expect(await missingOf(id)).toBeGreaterThan(0n)
  })

  test('freezes its wallet while its refund is pending, until that has failed', async () => {
    const id = await waiting(kind)
    const made = await refund(id, { status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await settled(kind, id)
    await fixture.becomes(id, { state: given })
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('frees its wallet if the refund fails before the order settles', async () => {
    const id = await waiting(kind)
    const made = await refund(id)
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
    await settled(kind, id)
    await fixture.becomes(id, { state: given, refundedMinor: 0n })
  })

  test('frees its wallet if the order fails, because nothing was given for the refunded money', async () => {
    const id = await waiting(kind)
    await refund(id)
    await fixture.list()
    await fixture.settle(kind === 'topup' ? 'credit' : 'repay', id, true)
    await fixture.becomes(id, { state: 'review' })
    expect(await missingOf(id)).toBe(0n)
    expect(await isFrozen(id)).toBe(false)
  })
})

test('a top-up in ringgit that waits freezes its wallet as soon as its refund is known', async () => {
  const asked = { wallet: newWallet(), quoteId: fixture.quote('USD/MYR', '421'), amount: '2000', method: 'bank' }
  const id = (await fixture.topup(asked)).ok!.paymentId
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'MAYB2U_FPX', force: true })
  await fixture.list()
  await fixture.becomes(id, { state: 'paid', held: false })
  await refund(id)
  await fixture.list()
  expect(await isFrozen(id)).toBe(true)
})

test('a credit that an operator ordered freezes its wallet as soon as a refund of it is known', async () => {
  const id = await opened()
  await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', amount: 40_000, force: true })
  await fixture.list()
  await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
  expect((await fixture.resolve(id, 'credit')).ok).toHaveProperty('done')
  await fixture.becomes(id, { state: 'paid' })
  await refund(id)
  await fixture.list()
  expect(await isFrozen(id)).toBe(true)
  await fixture.settle('credit', id)
  await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
  expect(await isFrozen(id)).toBe(true)
})

describe.each(kinds)('a %s whose hold is over freezes its wallet', (kind) => {
  test.each([
    ['a refund is pending', (id: string) => refund(id, { status: 'PENDING' })],
    ['a dispute is open', (id: string) => dispute(id, { status: 'PENDING' })],
    ['its row in the list reads FAILED', (id: string) => tell(id, { listed: 'FAILED' })],
    ['its row is in a status that we do not know', (id: string) => tell(id, { listed: 'HELD' })],
  ] as const)('while %s', async (_, happen) => {
    const id = await matured(kind)
    await happen(id)
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    expect(await missingOf(id)).toBe(0n)
  })

  test('until the dispute is won', async () => {
    const id = await matured(kind)
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('until its row reads SUCCESS again', async () => {
    const id = await matured(kind)
    await tell(id, { listed: 'FAILED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await tell(id, {})
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('and for its loss once the dispute is lost', async () => {
    const id = await matured(kind)
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    await fixture.control(`chargebacks/${made}`, { status: 'SUCCESS' })
    await fixture.list()
    await fixture.becomes(id, { state: 'review', lostHold: null })
    expect(await missingOf(id)).toBeGreaterThan(0n)
    expect(await isFrozen(id)).toBe(true)
  })
})

describe('a wallet in doubt', () => {
  test('is frozen until the last of two pending refunds has failed', async () => {
    const id = await given('QRIS')
    const one = await refund(id, { status: 'PENDING', amount: 10_000 })
    const other = await refund(id, { status: 'PENDING', amount: 20_000 })
    await fixture.list()
    await fixture.control(`refunds/${one}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`refunds/${other}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen again when another refund opens after the first has failed', async () => {
    const id = await given('QRIS')
    const made = await refund(id, { status: 'PENDING' })
    await fixture.list()
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
    await refund(id, { status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
  })

  test('stays frozen after its loss was repaid while a dispute of the same charge is open', async () => {
    const id = await given('QRIS')
    const wallet = await walletOf(id)
    await refund(id)
    await fixture.list()
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' }
    const paying = (await fixture.topup(asked)).ok!.paymentId
    await fixture.control(`sessions/${paying}/pay`, { channel_code: 'QRIS' })
    await fixture.list()
    await fixture.becomes(paying, { state: 'credited', reason: 'made_good' })
    expect(await missingOf(id)).toBe(0n)
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen while a dispute of money that was refunded and revoked is open', async () => {
    const id = await given('CARDS')
    holdFor(600)
    await refund(id)
    await fixture.list()
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    expect(await isFrozen(id)).toBe(false)
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen once money is revoked whose dispute was opened before', async () => {
    const id = await given('CARDS')
    holdFor(600)
    await refund(id)
    await fixture.list()
    await fixture.becomes(id, { state: 'revoking' })
    const made = await dispute(id, { status: 'PENDING' })
    await fixture.list()
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen once a revocation has failed, also after its loss was repaid, while a dispute is open', async () => {
    const id = await given('CARDS')
    const wallet = await walletOf(id)
    holdFor(600)
    await refund(id, { amount: 10_000 })
    await fixture.list()
    await dispute(id, { status: 'PENDING', amount: 40_000 })
    await fixture.list()
    const { leftMicro } = await fixture.becomes(id, { state: 'revoking' })
    await fixture.settle('revoke', `${id}:${leftMicro}`, true, undefined, 'not_held')
    await fixture.becomes(id, { state: 'review', reason: 'revoke_failed', lostHold: 'frozen' })
    const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' }
    const paying = (await fixture.topup(asked)).ok!.paymentId
    await fixture.control(`sessions/${paying}/pay`, { channel_code: 'QRIS' })
    await fixture.list()
    await fixture.becomes(paying, { state: 'paid', reason: 'made_good' })
    expect(await missingOf(id)).toBe(0n)
    expect(await isFrozen(id)).toBe(true)
  })

  test('is never free in between when its loss is undone while a refund is pending', async () => {
    const id = await given('QRIS')
    const wallet = await walletOf(id)
    await refund(id, { status: 'PENDING' })
    await tell(id, { listed: 'VOIDED' })
    await fixture.list()
    expect(await missingOf(id)).toBeGreaterThan(0n)
    await tell(id, {})
    await fixture.list()
    expect(await missingOf(id)).toBe(0n)
    expect(await isFrozen(id)).toBe(true)
    const freezes = (await fixture.database.read((db) => db.select().from(outbox)))
      .filter(({ subject, payload }) => subject === 'relay.freeze' && (payload as { wallet: string }).wallet === wallet)
      .map(({ payload }) => (payload as { frozen: boolean }).frozen)
    expect(freezes).not.toContain(false)
  })

  test('stays frozen for one payment when the doubt about another has ended', async () => {
    const id = await given('QRIS')
    const wallet = await walletOf(id)
    const asked = { wallet, quoteId: fixture.quote(), amount: '50000', method: 'qr' }
    const other = (await fixture.topup(asked)).ok!.paymentId
    await fixture.control(`sessions/${other}/pay`, { channel_code: 'QRIS' })
    await fixture.list()
    await fixture.settle('credit', other)
    const made = await refund(id, { status: 'PENDING' })
    const otherMade = await refund(other, { status: 'PENDING' })
    await fixture.list()
    await fixture.control(`refunds/${made}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`refunds/${otherMade}/fail`)
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is not frozen by a pending refund that we ordered', async () => {
    const id = await given('QRIS')
    await refund(id, { reference_id: `ordered-${id}`, amount: 20_000, status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen while a dispute is open beside a refund that we ordered', async () => {
    const id = await given('QRIS')
    await refund(id, { reference_id: `ordered-${id}`, amount: 20_000, status: 'PENDING' })
    await dispute(id, { status: 'PENDING', amount: 30_000 })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
  })
})

test('a wallet that owes nothing yet is told so when it is refused cards, and what it waits for', async () => {
  const id = await given('QRIS')
  const wallet = await walletOf(id)
  const card = async () =>
    (await fixture.topup({ wallet, amount: '50000', method: 'card', quoteId: fixture.quote() })) as { refused?: string }
  const made = await dispute(id, { status: 'PENDING' })
  await fixture.list()
  expect(await card()).toEqual({ refused: 'wallet_in_doubt' })
  const sentence = async () => (await fixture.item({ wallet, id })).ok!.item!.sentence
  expect(await sentence()).toContain('A refund or dispute of this payment is open')
  await fixture.control(`chargebacks/${made}`, { status: 'SUCCESS' })
  await fixture.list()
  expect(await card()).toEqual({ refused: 'wallet_frozen' })
  expect(await sentence()).not.toContain('is open')
})

describe('a wallet that an operator cleared although all of its payment was in doubt', () => {
  const hidden = { webhooks: { drop: 1 }, api: { hideDisputes: 1, hideRefunds: 1 } }
  const shown = { webhooks: { drop: 1 }, api: {} }
  /** Tells a webhook whose object cannot be fetched for a minute. */
  async function tellHidden(id: string, event: string, body: (named: object) => object) {
    await fixture.control('faults', hidden)
    const { providerPaymentId: payment_id } = (await fixture.row(id))!
    const text = keptDelivery(JSON.stringify({ event, ...body({ payment_id }) }))
    const at = new Date(fixture.context.clock() - 61_000).toISOString()
    expect(await fixture.deliver('ID', text, crypto.randomUUID(), at)).toBe('done')
    await fixture.control('faults', shown)
  }

  test.each([
    [
      'by a dispute that could not be fetched, when a chargeback is listed',
      async (id: string) => {
        const { id: made } = await fixture.control(`payments/${id}/dispute`)
        await tellHidden(id, 'dispute.action_required', (named) => ({ id: made, ...named }))
        return () => dispute(id, { status: 'PENDING' })
      },
    ],
    [
      'by a refund that could not be fetched, when the refund is listed',
      async (id: string) => {
        const made = await refund(id, { status: 'PENDING' })
        await tellHidden(id, 'refund.succeeded', (named) => ({ data: { id: made, ...named } }))
        return async () => {}
      },
    ],
    [
      'by a charge that read as failed, when a dispute opens',
      async (id: string) => {
        await tell(id, { status: 'FAILED', listed: 'FAILED' })
        await fixture.list()
        return () => dispute(id, { status: 'PENDING' })
      },
    ],
  ])('is frozen again, %s', async (_, doubt) => {
    const id = await given('QRIS')
    const open = await doubt(id)
    expect(await isFrozen(id)).toBe(true)
    await fixture.clear(await walletOf(id))
    expect(await isFrozen(id)).toBe(false)
    await open()
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    // The same is read again after an operator has cleared the wallet once more.
    await fixture.clear(await walletOf(id))
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })
})

describe('a wallet that an operator cleared while a dispute is open', () => {
  async function cleared() {
    const id = await given('QRIS')
    const made = await dispute(id, { status: 'PENDING', amount: 20_000 })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    expect((await fixture.clear(await walletOf(id))).ok!.done).toContain('is no longer frozen')
    return { id, made }
  }

  test('stays free while the same dispute is read again', async () => {
    const { id } = await cleared()
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen again if the operator undoes the clearing, and free once the dispute is won', async () => {
    const { id, made } = await cleared()
    const wallet = await walletOf(id)
    expect((await fixture.reclaim(wallet)).ok!.done).toContain(`is in doubt again for ${id}, and is frozen`)
    expect(await isFrozen(id)).toBe(true)
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(false)
    expect((await fixture.reclaim(wallet)).ok!.done).toContain('nothing of the latest clearing')
    expect(await isFrozen(id)).toBe(false)
  })

  test('is frozen when the dispute is lost', async () => {
    const { id, made } = await cleared()
    await fixture.control(`chargebacks/${made}`, { status: 'SUCCESS' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
    expect(await missingOf(id)).toBe(1_230_770n)
  })

  test('is frozen when the dispute grows', async () => {
    const { id, made } = await cleared()
    await fixture.control(`chargebacks/${made}`, { amount: 30_000 })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
  })

  test('is frozen when a refund is pending as well', async () => {
    const { id } = await cleared()
    await refund(id, { status: 'PENDING', amount: 10_000 })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
  })

  test('is frozen by the next doubt after the dispute was won', async () => {
    const { id, made } = await cleared()
    await fixture.control(`chargebacks/${made}`, { status: 'REVERSED' })
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ lostHold: null })
    await refund(id, { status: 'PENDING' })
    await fixture.list()
    expect(await isFrozen(id)).toBe(true)
  })

  test('is frozen again if the operator had not seen the second report', async () => {
    const id = await given('QRIS')
    const wallet = await walletOf(id)
    await dispute(id, { status: 'PENDING', amount: 20_000 })
    await fixture.list()
    const seen = await fixture.freezeOf(wallet)
    await refund(id, { status: 'PENDING', amount: 10_000 })
    await fixture.list()
    expect((await fixture.clear(wallet, 'sari', seen)).ok!.refused).toContain('have changed')
    expect(await isFrozen(id)).toBe(true)
  })
})

describe.each(kinds)('a %s by card whose hold runs on the chain before its order is reported', (kind) => {
  // guard: a hold is watched also before the relayer has reported the order that began it
  test('is extended before the hold ends if a refund is known', async () => {
    const id = await waiting(kind, 'CARDS')
    holdFor(4)
    await refund(id)
    await fixture.list()
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
    expect(await isFrozen(id)).toBe(false)
  })

  test('freezes its wallet if the chain has released it and a refund is known, until it is revoked', async () => {
    const id = await waiting(kind, 'CARDS')
    release()
    await refund(id)
    await fixture.list()
    await fixture.recheck(0)
    expect(await isFrozen(id)).toBe(true)
    await settled(kind, id)
    await fixture.becomes(id, { state: 'revoking' })
    expect(await isFrozen(id)).toBe(true)
    await fixture.settle('revoke', id)
    await fixture.becomes(id, { state: 'revoked' })
    expect(await isFrozen(id)).toBe(false)
  })

  test('is extended before the hold ends while the provider does not respond', async () => {
    const id = await waiting(kind, 'CARDS')
    holdFor(4)
    await fixture.control('faults', { api: { errorRate: 1 }, webhooks: { drop: 1 } })
    await fixture.recheck()
    expect(await isExtended(id)).toBe(true)
  })

  test('is left alone while the chain has no hold of it, or the provider knows no refund', async () => {
    const id = await waiting(kind, 'CARDS')
    fixture.chain.hold = { state: 'none', until: null }
    await fixture.recheck()
    holdFor(4)
    await fixture.recheck()
    release()
    await fixture.recheck()
    expect(await isExtended(id)).toBe(false)
    expect(await isFrozen(id)).toBe(false)
    await settled(kind, id)
    await fixture.recheck(20_000)
    expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  })

  test('and is refunded while the chain has no hold of it is looked at until there is one', async () => {
    const id = await waiting(kind, 'CARDS')
    fixture.chain.hold = { state: 'none', until: null }
    await refund(id)
    await fixture.list()
    for (let looks = 0; looks < 6; looks++) await fixture.recheck(1_500)
    holdFor(4)
    await fixture.recheck(1_500)
    expect(await isExtended(id)).toBe(true)
  })
})
