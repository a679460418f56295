import type { Address } from 'viem'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'

export const bank = {
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
}

/** A fresh quote, a signature over the transfer, and the body of `POST /cashouts`. */
export async function cashoutBody(
  stack: Stack,
  person: Person,
  terms: { ausdMicro?: bigint; accountNumber?: string } = {},
) {
  const quote = await person.quote('USD/IDR')
  const authorization = await person.sign({
    to: stack.info.chain.treasury as Address,
    valueMicro: terms.ausdMicro ?? 5_000_000n,
  })
  return {
    quoteId: quote.id,
    authorization,
    bank: { ...bank, accountNumber: terms.accountNumber ?? bank.accountNumber },
  }
}

/** Waits until an entry of the activity list has one of these states, and answers it. */
export const entryIn = (person: Person, id: string, ...statuses: string[]) =>
  waitUntil(`${id} becoming ${statuses.join(' or ')}`, () => entryNow(person, id, ...statuses))

/** The same, if it is in such a state now. */
export async function entryNow(person: Person, id: string, ...statuses: string[]) {
  const { items } = (await person.get('/me/activity')).body
  const entry = items?.find((item: { id: string }) => item.id === id)
  return statuses.includes(entry?.status) ? entry : undefined
}

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
