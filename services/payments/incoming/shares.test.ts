import { afterAll, expect, test } from 'bun:test'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { ProviderBusy } from '#shared/provider/problem'
import { openRateLimit } from '#shared/provider/rate-limit'
import { type Answer, ok } from '#shared/refusals'
import type { Context } from '../context'
import { type PaymentRow, payments } from '../payment.table'
import type { PaymentProvider } from '../provider'
import { outbox } from '../schema.store'
import { newWallet, openFixture } from '../test-support'
import { checksPerRound, recheckOnce } from './recheck'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const roundMs = 1_875
const holdMs = 60_000
const chainMs = 2_000

const { id, refundsCheckedAt, holdEndedAt, nextCheckAt } = payments
const watched = { id, refundsCheckedAt, holdEndedAt, nextCheckAt }

const rest = (ids: string[]) =>
  fixture.database.run((db) => db.update(payments).set({ nextCheckAt: null }).where(inArray(payments.id, ids)))

/** Stores rows in the form in which payments leave them, each with its own ids. */
async function stored(count: number, of: (place: number) => Partial<PaymentRow>) {
  const quoteId = fixture.quote()
  const wallet = newWallet()
  const asked = { wallet, amount: '50000', method: 'card', quoteId }
  const { paymentId } = (await fixture.topup(asked)).ok!
  const like = (await fixture.row(paymentId))!
  const rows = Array.from({ length: count }, (_, place) => {
    const name = `${paymentId.slice(0, 20)}${String(place).padStart(6, '0')}`
    const ids = { id: name, quoteId: crypto.randomUUID(), checkoutId: `ps-${name}` }
    return { ...like, ...ids, paymentRequestId: `pr-${name}`, ...of(place) }
  })
  await rest([paymentId])
  await fixture.database.run((db) => db.insert(payments).values(rows))
  return rows
}

test.each([
  [400, 600, 100],
  [60, 60, 150],
])(
  'with %i holds at %i calls a minute, watched for %i s, every hold is checked before it matures and no other check waits a minute',
  async (holds, callsPerMinute, watchedSeconds) => {
    const startMs = Date.now() + 3_600_000
    let nowMs = startMs
    const clock = () => nowMs
    const limit = openRateLimit(callsPerMinute, clock)
    const call = async <T>(endpoint: string, answer: T) => {
      if (limit.reserve(endpoint, 0) === null) throw new ProviderBusy(endpoint, 1_000)
      return answer
    }
    const provider = {
      findCharge: (account: 'ID', paymentId: string) =>
        call('charge', {
          status: 'succeeded',
          charge: {
            account,
            paymentId,
            paymentRequestId: null,
            reference: '',
            currency: 'IDR',
            paidMinor: 50_000n,
            channel: 'CARDS',
            channelKind: 'card',
            paidAt: null,
          },
        }),
      listRefunds: () => call('refunds', []),
      listTransactions: () => call('list', []),
      findCheckout: (_: 'ID', checkoutId: string) =>
        call('checkout', {
          checkoutId,
          reference: '',
          status: 'open',
          checkoutUrl: null,
          expiresAt: null,
          paymentRequestId: null,
          paymentId: null,
        }),
    } as unknown as PaymentProvider

    const ends = new Map<string, number>()
    const ask = async (_: unknown, { refId }: { refId: string }): Promise<Answer<unknown>> => {
      const endMs = ends.get(refId)!
      const seconds = (ms: number) => String(Math.floor(ms / 1_000))
      const state = endMs <= nowMs ? 'released' : 'held'
      return ok({ state, until: seconds(endMs), blockTime: seconds(nowMs) })
    }
    const context = {
      ...fixture.context,
      clock,
      provider,
      ask: ask as never,
      recheckAfterMs: 20_000,
      holdMarginMs: 15_000,
      holdRecheckMs: 3_600_000,
    } as Context

    const onHold = await stored(holds, (place) => {
      const creditedAt = new Date(startMs + (place * holdMs) / holds)
      return {
        state: 'held',
        held: true,
        creditedAt,
        nextCheckAt: creditedAt,
        paidMinor: 50_000n,
        onchainMicro: 1n,
        providerPaymentId: `py-${crypto.randomUUID()}`,
        channel: 'CARDS',
      }
    })
    for (const { id, creditedAt } of onHold) ends.set(id, creditedAt!.getTime() + holdMs)
    const started = new Date(startMs)
    const others = [
      ...(await stored(5, () => ({
        state: 'paid',
        nextCheckAt: started,
        providerPaymentId: `py-${crypto.randomUUID()}`,
        onchainMicro: 1n,
      }))),
      ...(await stored(5, () => ({ expiresAt: new Date(startMs - 1), nextCheckAt: started }))),
    ]

    const extensions: { refId: string; atMs: number }[] = []
    let published = 0
    const carryOut = async () => {
      const sent = await fixture.database.read((db) =>
        db.select().from(outbox).where(sql`${outbox.position} > ${published}`),
      )
      for (const { subject, payload, position } of sent) {
        published = Math.max(published, Number(position))
        const { refId } = payload as { refId: string }
        if (subject === 'relay.extend') extensions.push({ refId, atMs: nowMs + chainMs })
      }
      const due = extensions.filter(({ atMs }) => atMs <= nowMs)
      for (const one of due) {
        extensions.splice(extensions.indexOf(one), 1)
        if ((ends.get(one.refId) ?? 0) > nowMs) ends.set(one.refId, nowMs + holdMs)
      }
      const ids = due.map(({ refId }) => refId)
      await fixture.database.run((db) =>
        db
          .update(payments)
          .set({ nextCheckAt: new Date(nowMs) })
          .where(and(inArray(payments.id, ids), eq(payments.state, 'held'))),
      )
    }

    const unseen: string[] = []
    let longestMs = 0
    for (let rounds = 0; nowMs < startMs + watchedSeconds * 1_000; rounds++) {
      nowMs += roundMs
      await recheckOnce(context, checksPerRound(callsPerMinute, roundMs), { rounds })
      await carryOut()
      const rows = await fixture.database.read((db) => db.select(watched).from(payments))
      for (const { id, refundsCheckedAt, holdEndedAt } of rows)
        if ((ends.get(id) ?? nowMs) < nowMs && !refundsCheckedAt && !holdEndedAt) unseen.push(id)
      const ofOthers = rows.filter(({ id }) => others.some((one) => one.id === id))
      for (const { nextCheckAt } of ofOthers)
        if (nextCheckAt) longestMs = Math.max(longestMs, nowMs - nextCheckAt.getTime())
    }
    expect(unseen).toEqual([])
    expect(longestMs).toBeLessThan(60_000)
    const ended = await fixture.database.read((db) =>
      db
        .select(watched)
        .from(payments)
        .where(inArray(payments.id, [...ends.keys()])),
    )
    expect(ended.filter(({ holdEndedAt }) => holdEndedAt).length).toBeGreaterThan(holds / 10)
    await rest([...ends.keys(), ...others.map(({ id }) => id)])
  },
)
