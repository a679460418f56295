import { type Fixture, newWallet } from '../test-support'

type Refund = Record<'id' | 'reference_id' | 'status' | 'idempotency_key', string> & {
  amount: number
  replays: number
}

export function reviewsOf(fixture: Fixture) {
  async function topup(channel_code: string, amount?: number): Promise<string> {
    const quoteId = fixture.quote()
    const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
    const id = (await fixture.topup(asked)).ok!.paymentId
    const paid = { channel_code, force: true, ...(amount ? { amount } : {}) }
    await fixture.control(`sessions/${id}/pay`, paid)
    return id
  }
  async function differing(channel_code = 'DANA'): Promise<string> {
    const id = await topup(channel_code, 40_000)
    await fixture.becomes(id, { state: 'review', reason: 'amount_differs' })
    return id
  }
  /** Pays through two checkouts, of which the first was opened without a response. */
  async function payTwice(amount?: number): Promise<string> {
    const quoteId = fixture.quote()
    const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
    await fixture.control('faults', { api: { errorAfterAccept: 1 } })
    await fixture.topup(asked)
    await fixture.control('faults', {})
    const id = (await fixture.topup(asked)).ok!.paymentId
    const { sessions } = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; payment_session_id: string }[]
    }
    const paid = { channel_code: 'QRIS', ...(amount ? { amount, force: true } : {}) }
    for (const { reference_id: reference, payment_session_id: session } of sessions)
      if (reference === id) await fixture.control(`sessions/${session}/pay`, paid)
    return id
  }
  async function paidTwice(): Promise<string> {
    const id = await payTwice()
    await fixture.becomes(id, { overpaidMinor: 50_000n })
    await fixture.settle('credit', id)
    await fixture.becomes(id, { state: 'review', reason: 'paid_twice' })
    return id
  }
  /** Returns the refunds of a payment that we ordered, as the provider has them. */
  async function atProvider(id: string): Promise<Refund[]> {
    const { refunds } = (await fixture.control('book')) as unknown as { refunds: Refund[] }
    return refunds.filter(({ reference_id: reference }) => reference?.startsWith(`ordered-${id}`))
  }
  async function succeed(id: string): Promise<void> {
    for (const refund of await atProvider(id))
      if (refund.status === 'PENDING') await fixture.control(`refunds/${refund.id}/succeed`)
  }
  return { topup, differing, payTwice, paidTwice, atProvider, succeed }
}
