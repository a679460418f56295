import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { pause } from '#platform/deadline'
import { keptDelivery } from '#shared/provider/delivery'
import { lookAgain } from '../incoming/look-again'
import type { PaymentProvider } from '../provider'
import { openFixture, waitUntil } from '../test-support'
import { actionsOn, kinds } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.withoutWebhooks()
  fixture.alarms.length = 0
})

const { opened, given, ending, holdFor, isExtended, isFrozen } = actionsOn(fixture)
const onlyDisputes = {
  webhooks: { only: ['action_required', 'under_review', 'won', 'lost', 'reopened'].map((word) => `dispute.${word}`) },
}
const becomesFrozen = (id: string, frozen = true) =>
  waitUntil(`${id} ${frozen ? 'freezing' : 'freeing'} its wallet`, async () => (await isFrozen(id)) === frozen)

/** Opens a dispute of a payment, and returns its id. */
async function disputed(id: string, more: object = {}): Promise<string> {
  await fixture.control('faults', onlyDisputes)
  return (await fixture.control(`payments/${id}/dispute`, more)).id
}
const move = (dispute: string, status: string, more: object = {}) =>
  fixture.control(`disputes/${dispute}`, { status, ...more })
const reportOf = async (id: string) =>
  waitUntil(`the report ${id}`, async () => (await fixture.report(id)) ?? undefined)
const evidenceAlarms = () => fixture.alarms.filter(({ msg }) => msg === 'dispute is lost unless it is answered in time')

describe.each(kinds)('a %s by QR', (kind) => {
  const final = kind === 'topup' ? 'credited' : 'repaid'

  test('freezes its wallet while it is disputed, until the dispute is won', async () => {
    const id = await given('QRIS', kind)
    const dispute = await disputed(id)
    await becomesFrozen(id)
    await fixture.becomes(id, { state: final })
    await move(dispute, 'UNDER_REVIEW')
    await waitUntil('the review', async () => (await fixture.report(dispute))?.evidenceDueAt === null)
    expect(await isFrozen(id)).toBe(true)
    await move(dispute, 'WON')
    await becomesFrozen(id, false)
    await fixture.becomes(id, { state: final, refundedMinor: 0n })
    const kept = expect.objectContaining({ kind: 'dispute_won', object: dispute, paymentId: id })
    expect(await fixture.anomalies()).toContainEqual(kept)
  })

  test('is lost once with its dispute, although the list has a chargeback too', async () => {
    const id = await given('QRIS', kind)
    const dispute = await disputed(id)
    await move(dispute, 'LOST')
    const { fiatMinor } = await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
    expect(await isFrozen(id)).toBe(true)
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: fiatMinor })
  })

  test('is lost for the part that was decided, not for the claim', async () => {
    const id = await given('QRIS', kind)
    const dispute = await disputed(id)
    await move(dispute, 'LOST', { amount: 20_000 })
    await fixture.becomes(id, { state: 'review', refundedMinor: 20_000n })
    await fixture.list()
    await fixture.becomes(id, { refundedMinor: 20_000n })
  })

  test('freezes its wallet if it is disputed before its order settles', async () => {
    const id = await opened(kind)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
    await fixture.list()
    await fixture.becomes(id, { state: 'paid' })
    await disputed(id)
    await becomesFrozen(id)
  })

  // By the seed, the dispute names its payment by one id or another.
  test.each([1, 2, 3, 4, 5, 6])('that is disputed before it is received is held when it is (seed %d)', async (seed) => {
    const id = await opened(kind)
    await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
    await fixture.control('faults', { ...onlyDisputes, seed })
    await fixture.control(`payments/${id}/dispute`)
    await fixture.becomes(id, { state: 'paid', held: true })
  })
})

describe.each(kinds)('a %s by card that is disputed during its hold', (kind) => {
  const onHold = kind === 'topup' ? 'held' : 'repaid'

  test('has its hold extended, and matures once the dispute is won', async () => {
    const id = await ending(kind)
    const dispute = await disputed(id)
    await reportOf(dispute)
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
    await fixture.becomes(id, { state: onHold, holdEndedAt: null })
    await move(dispute, 'WON')
    await waitUntil('the dispute being won', async () => (await fixture.report(dispute))?.status === 'dead')
    holdFor(4)
    await fixture.recheck(20_000)
    fixture.chain.hold = { state: 'released', until: Math.floor(fixture.context.clock() / 1_000) - 1 }
    await fixture.recheck(20_000)
    expect((await fixture.row(id))!.holdEndedAt).not.toBeNull()
  })

  test.each(['WON', 'LOST'])(
    'is asked about before its hold is extended again, so that %s counts although no webhook told it',
    async (end) => {
      const id = await ending(kind)
      const dispute = await disputed(id)
      await reportOf(dispute)
      await fixture.recheck(0)
      expect(await isExtended(id)).toBe(true)
      await fixture.control('faults', { webhooks: { drop: 1 } })
      await move(dispute, end)
      holdFor(4)
      await fixture.recheck(20_000)
      expect((await fixture.report(dispute))?.status).toBe(end === 'WON' ? 'dead' : 'succeeded')
    },
  )

  test('is revoked once the dispute is lost', async () => {
    const id = await ending(kind)
    const dispute = await disputed(id)
    await move(dispute, 'LOST')
    await fixture.becomes(id, { state: 'revoking' })
  })
})

test.each([
  ['was read', true],
  ['was not read', false],
])(
  'a dispute that was lost while the list %s, and is won in the end, is over, although no webhook told it',
  async (_, isRead) => {
    const id = await given('QRIS')
    const dispute = await disputed(id)
    await move(dispute, 'LOST')
    await fixture.becomes(id, { state: 'review' })
    if (isRead) await fixture.list()
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await move(dispute, 'WON')
    const book: Record<string, { id: string; payment_id: string }[]> = await fixture.control('book')
    const { providerPaymentId } = (await fixture.row(id))!
    const chargeback = book.chargebacks!.find(({ payment_id }) => payment_id === providerPaymentId)!
    await fixture.control(`chargebacks/${chargeback.id}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
    expect(await isFrozen(id)).toBe(false)
  },
)

test('a dispute whose end no webhook told is found by asking for it, and the wallet is free again', async () => {
  const id = await given('QRIS')
  const dispute = await disputed(id)
  await becomesFrozen(id)
  await fixture.control('faults', { webhooks: { drop: 1 } })
  await move(dispute, 'WON')
  await fixture.recheck(1_800_000)
  expect(await isFrozen(id)).toBe(true)
  // Each round asks for a few disputes, and those of other tests may be due too.
  await fixture.recheck(1_900_000)
  await waitUntil('the wallet being free', async () => {
    await fixture.recheck(0)
    return !(await isFrozen(id))
  })
})

// guard: a decision about a refund or dispute is read once more after its news
test('a dispute that was lost and then won is found to be over, although nobody told it', async () => {
  const id = await given('QRIS')
  const dispute = await disputed(id)
  // Otherwise its first webhook may be the one that finds it lost, and the second would find it won.
  await becomesFrozen(id)
  await move(dispute, 'LOST')
  await fixture.becomes(id, { state: 'review' })
  await fixture.control('faults', { webhooks: { drop: 1 } })
  await move(dispute, 'WON')
  await fixture.recheck(60_000)
  expect((await fixture.report(dispute))?.status).toBe('succeeded')
  await waitUntil('the dispute being over', async () => {
    await fixture.recheck(400_000)
    return (await fixture.report(dispute))?.status === 'dead'
  })
  await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
  expect(await isFrozen(id)).toBe(false)
})

describe('an alarm about a dispute', () => {
  test('names payment and date, and is raised once for each date', async () => {
    const id = await given('QRIS')
    const due_date = '2027-03-15T19:50:51.724Z'
    const dispute = await disputed(id, { due_date })
    await reportOf(dispute)
    await becomesFrozen(id)
    // The provider tells it again.
    await move(dispute, 'ACTION_REQUIRED', { due_date })
    await move(dispute, 'UNDER_REVIEW', { due_date })
    await waitUntil('the review', async () => (await fixture.report(dispute))?.evidenceDueAt === null)
    expect(evidenceAlarms()).toMatchObject([{ disputeId: dispute, paymentId: id, evidenceDueAt: due_date }])
    const later = '2027-03-20T19:50:51.724Z'
    await move(dispute, 'ACTION_REQUIRED', { due_date: later, status_reason: 'NEED_MORE_INFORMATION' })
    await waitUntil('the second alarm', () => evidenceAlarms().length === 2)
    expect(evidenceAlarms()[1]).toMatchObject({ disputeId: dispute, evidenceDueAt: later })
  })

  test('is raised for each of two disputes', async () => {
    const ids = [await given('QRIS'), await given('QRIS')]
    for (const id of ids) await disputed(id)
    await waitUntil('both alarms', () => evidenceAlarms().length === 2)
    expect(new Set(evidenceAlarms().map(({ paymentId }) => paymentId))).toEqual(new Set(ids))
  })

  test('is raised for a status that we do not know, which freezes the wallet', async () => {
    const id = await given('QRIS')
    const dispute = await disputed(id)
    await becomesFrozen(id)
    await move(dispute, 'REOPENED')
    await waitUntil('the anomaly', async () =>
      (await fixture.anomalies()).some(({ kind, object }) => kind === 'status_unknown' && object === dispute),
    )
    expect(await isFrozen(id)).toBe(true)
  })
})

test('a dispute that names its payment by an id that no look-up finds is bound to it by an operator', async () => {
  const id = await given('QRIS')
  const { providerPaymentId: charge } = (await fixture.row(id))!
  await fixture.control('faults', onlyDisputes)
  const dispute = await disputed(id, { names: 'older' })
  await waitUntil('the alarm', () => evidenceAlarms().some(({ disputeId }) => disputeId === dispute))
  expect(await isFrozen(id)).toBe(false)
  expect((await fixture.nameCharge(dispute, 'py-none')).ok!.refused).toContain('no charge of a payment of ours')
  for (let times = 0; times < 2; times++) expect((await fixture.nameCharge(dispute, charge!)).ok).toHaveProperty('done')
  expect(await isFrozen(id)).toBe(true)
  await move(dispute, 'WON')
  await waitUntil('the wallet being free', async () => !(await isFrozen(id)))
})

const hidden = { webhooks: { drop: 1 }, api: { hideDisputes: 1, hideRefunds: 1 } }
/**
 * Asks for everything that is due then, with some other answers of the provider. One round has few looks, and the reports of
 * other tests are due too.
 */
async function lookLater(aheadMs: number, answers: Partial<PaymentProvider> = {}): Promise<void> {
  fixture.time.aheadMs += aheadMs
  const provider = { ...fixture.context.provider, ...answers }
  while (await lookAgain({ ...fixture.context, provider })) await pause(0)
}
const tell = (event: string, body: object, agoMs = 0) =>
  fixture.deliver(
    'ID',
    keptDelivery(JSON.stringify({ event, ...body })),
    crypto.randomUUID(),
    new Date(fixture.context.clock() - agoMs).toISOString(),
  )

describe.each([
  [
    'dispute',
    async (id: string) => {
      const { id: made } = await fixture.control(`payments/${id}/dispute`)
      return made
    },
    (made: string, named: object) => ({ event: 'dispute.action_required', body: { id: made, ...named } }),
    (made: string) => fixture.control(`disputes/${made}`, { status: 'WON' }),
  ],
  [
    'refund',
    async (id: string) => {
      const made: Record<string, unknown> = await fixture.control(`payments/${id}/refund`, {
        status: 'PENDING',
        version: 3,
      })
      return String(made.refund_id)
    },
    (made: string, named: object) => ({ event: 'refund.succeeded', body: { data: { refund_id: made, ...named } } }),
    (made: string) => fixture.control(`refunds/${made}/fail`),
  ],
] as const)('a %s that the provider does not show', (what, make, bodyOf, undo) => {
  /** Makes one of a payment by QR that a webhook alone names, and that is not found for a minute. */
  const named = async () => {
    const id = await given('QRIS')
    const made = await make(id)
    await fixture.control('faults', hidden)
    const { event, body } = bodyOf(made, { payment_id: (await fixture.row(id))!.providerPaymentId })
    expect(await tell(event, body, 61_000)).toBe('done')
    return { id, made, event, body }
  }
  test.each([
    ['the payment', (row: Named) => ({ payment_id: row.providerPaymentId })],
    ['its request', (row: Named) => ({ payment_request_id: row.paymentRequestId })],
    ['its request in the place of the payment', (row: Named) => ({ payment_id: row.paymentRequestId })],
    ['our reference', (row: Named) => ({ reference_id: `${row.id}_1` })],
  ])('freezes at once the wallet of the payment that it names by %s, until it is shown', async (_, namedBy) => {
    const id = await given('QRIS')
    const made = await make(id)
    await fixture.control('faults', hidden)
    const { event, body } = bodyOf(made, namedBy((await fixture.row(id))!))
    expect(await tell(event, body)).toMatchObject({ retryInMs: expect.anything() })
    expect(await isFrozen(id)).toBe(true)
    // It is not found for a minute.
    expect(await tell(event, body, 61_000)).toBe('done')
    expect(await isFrozen(id)).toBe(true)
    expect(fixture.alarms.map(({ msg }) => msg)).toContain('webhook object not found at provider')
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    await undo(made)
    expect(await tell(event, body)).toBe('done')
    expect(await isFrozen(id)).toBe(false)
  })

  // guard: a refund or dispute that a webhook named, and that was not found, is asked for again
  test('is asked for until it is shown, because no other webhook may come', async () => {
    const { id, made } = await named()
    await lookLater(130_000)
    expect(await isFrozen(id)).toBe(true)
    const { nextCheckAt } = (await fixture.report(`void:${made}`))!
    expect(nextCheckAt?.getTime() ?? 0).toBeGreaterThan(fixture.context.clock() + 3_000_000)
    await undo(made)
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    await lookLater(3_700_000)
    expect(await isFrozen(id)).toBe(false)
  })

  test('is not asked for again by a look that missed it while a webhook found it', async () => {
    const { made, event, body } = await named()
    await undo(made)
    await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
    const { findRefund, findDispute } = fixture.context.provider
    const missed = async (asked: string) => {
      if (asked !== made) return false
      expect(await tell(event, body)).toBe('done')
      return true
    }
    await lookLater(130_000, {
      findRefund: async (account, asked) => ((await missed(asked)) ? undefined : findRefund(account, asked)),
      findDispute: async (account, asked) => ((await missed(asked)) ? undefined : findDispute(account, asked)),
    })
    expect(await fixture.report(`void:${made}`)).toMatchObject({ status: 'dead', nextCheckAt: null })
  })

  test('has the hold extended of the card payment that it names', async () => {
    const id = await ending()
    const made = await make(id)
    await fixture.control('faults', hidden)
    const { providerPaymentId } = (await fixture.row(id))!
    const { event, body } = bodyOf(made, { payment_id: providerPaymentId })
    expect(await tell(event, body, 61_000)).toBe('done')
    await fixture.recheck(0)
    expect(await isExtended(id)).toBe(true)
  })

  test(`and that names a payment of ours before it is received makes it held (${what})`, async () => {
    const id = await opened()
    const payment = await fixture.control(`sessions/${id}/pay`, { channel_code: 'QRIS', force: true })
    const made = await make(id)
    await fixture.control('faults', hidden)
    const { event, body } = bodyOf(made, { payment_id: payment.payment_id, reference_id: id })
    expect(await tell(event, body, 61_000)).toBe('done')
    await fixture.control('faults', { webhooks: { drop: 1 }, api: { hideRefunds: 1 } })
    await fixture.list()
    await fixture.becomes(id, { state: 'paid', held: true })
  })

  test('and that names nobody of ours changes nothing', async () => {
    const id = await given('QRIS')
    const { event, body } = bodyOf(`none-${crypto.randomUUID()}`, { payment_id: 'py-another', reference_id: 'another' })
    expect(await tell(event, body)).toBe('done')
    expect(await isFrozen(id)).toBe(false)
  })
})

// guard: a decided refund or dispute that a look does not find is asked for again
test('a dispute that was lost is asked for until it is found, because nothing else may tell which charge it is about', async () => {
  const id = await given('QRIS')
  const dispute = await disputed(id)
  await move(dispute, 'LOST')
  await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
  const isPlanned = async () => (await fixture.report(dispute))!.nextCheckAt !== null
  await fixture.control('faults', hidden)
  await lookLater(130_000)
  expect(await isPlanned()).toBe(true)
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
  await lookLater(3_700_000)
  expect(await isPlanned()).toBe(false)
})

/** Returns a payment that is frozen for a refund which only a webhook named, and which is not found; with the refund's id. */
async function namedAlone() {
  const id = await given('QRIS')
  const made = (await fixture.control(`payments/${id}/refund`, { status: 'PENDING', reference_id: 'dashboard' })).id
  await fixture.control('faults', hidden)
  const payment_id = (await fixture.row(id))!.providerPaymentId!
  expect(await tell('refund.succeeded', { data: { id: made, payment_id } }, 61_000)).toBe('done')
  expect(await isFrozen(id)).toBe(true)
  return { id, made, payment_id }
}

test('a refund that a webhook named together with our payment, and that is one of a foreign charge, frees the wallet', async () => {
  const { id, made, payment_id } = await namedAlone()
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
  const { findRefund, findCharge } = fixture.context.provider
  const foreign = { paymentId: 'py-foreign', paymentRequestId: null, reference: 'another shop' }
  await lookLater(130_000, {
    findRefund: async (account, asked) => {
      const refund = await findRefund(account, asked)
      return refund && asked === made ? { ...refund, ...foreign } : refund
    },
    findCharge: async (account, asked) => {
      if (asked !== foreign.paymentId) return findCharge(account, asked)
      const charge = await findCharge(account, payment_id)
      return charge && { ...charge, charge: { ...charge.charge, ...foreign } }
    },
  })
  expect(await isFrozen(id)).toBe(false)
  expect(await fixture.report(`void:${made}`)).toMatchObject({ status: 'dead', nextCheckAt: null })
})

test('a refund that was named by a webhook alone, and has failed, frees the wallet by its row in the list', async () => {
  const { id, made } = await namedAlone()
  await fixture.control(`refunds/${made}/fail`)
  await fixture.control('faults', { webhooks: { drop: 1 }, api: {} })
  await fixture.list()
  expect(await isFrozen(id)).toBe(false)
})

type Named = { id: string; providerPaymentId: string | null; paymentRequestId: string | null }

test.each([2, 3])('a refund that only version %d of the API knows freezes the wallet', async (version) => {
  const id = await given('QRIS')
  await fixture.control('faults', { webhooks: { only: ['refund.succeeded'] } })
  await fixture.control(`payments/${id}/refund`, { version })
  await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit' })
  expect(await isFrozen(id)).toBe(true)
})

describe('a chargeback in the list that names only a dispute that no webhook told of', () => {
  const rowOf = async (disputeId: string) => {
    const rows = await fixture.listing.list('ID', new Date(fixture.context.clock() - 600_000))
    return { ...rows.find(({ productId }) => productId === disputeId)!, reference: null, paymentRequestId: null }
  }

  // guard: a row leads to its payment through the dispute that it names
  test.each(['payment', 'none'])('counts for the payment that the dispute names, by %s', async (names) => {
    const id = await given('QRIS')
    const made = (await fixture.control(`payments/${id}/dispute`, { names })).id
    await fixture.control(`disputes/${made}`, { status: 'LOST', names: 'dispute' })
    const row = await rowOf(made)
    for (let times = 0; times < 2; times++) {
      await fixture.listing.receive('ID', row)
      await fixture.becomes(id, { state: 'review', reason: 'refunded_after_credit', refundedMinor: 50_000n })
    }
    expect(await isFrozen(id)).toBe(true)
    expect(await fixture.report(made)).toMatchObject({ paymentId: id, status: 'succeeded' })
    expect(await fixture.listing.done('ID', [row])).toEqual(new Set([row]))
  })
})
