import type { Person } from '#infra/demo/person'

export type Checkout = { paymentId: string; checkoutUrl: string; fiat: string; ausd: string }

/** A quote and a top-up: an open checkout. */
export async function openCheckout(
  person: Person,
  terms: { pair: 'USD/IDR' | 'USD/MYR'; amount: string; method: 'bank' | 'card' | 'qr' },
): Promise<Checkout> {
  const quote = await person.quote(terms.pair)
  const reply = await person.post('/topups', {
    amount: terms.amount,
    method: terms.method,
    quoteId: quote.id,
  })
  if (reply.status !== 200)
    throw new Error(`the top-up was refused: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}
