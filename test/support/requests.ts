import type { Address } from 'viem'
import type { Person, Reply } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'

export const bank = {
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
}

/** A fresh quote, a signature over the transfer, and the body of `POST /cashouts`. */
export async function cashoutBody(
  stack: RunningStack,
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

/** What a killed process had in its hands comes again within 20 s, and a busy machine takes longer. */
const insistMs = 90_000

/** Repeats a request as the app does, until it is accepted: the same request each time. */
export async function insist(person: Person, path: string, body: unknown): Promise<Reply['body']> {
  const ask = async () => {
    const reply = await person.post(path, body)
    return reply.status === 200 && reply
  }
  return (await waitUntil(`an answer of ${path}`, ask, insistMs, 100)).body
}

/**
 * Repeats a request as the app does, while somebody is late: any answer but 503, and of those with 503
 * the one that is `meant`.
 */
export const answered = <R extends { readonly status: number }>(
  ask: () => Promise<R>,
  { meant = () => false, deadlineMs }: { meant?: (reply: R) => boolean; deadlineMs?: number } = {},
): Promise<R> =>
  waitUntil(
    'an answer',
    async () => {
      const reply = await ask()
      return (reply.status !== 503 || meant(reply)) && reply
    },
    deadlineMs,
    100,
  )

/** Waits until an entry of the activity list has one of these states, and answers it. */
export const entryIn = (person: Person, id: string, ...statuses: string[]) =>
  waitUntil(`${id} becoming ${statuses.join(' or ')}`, () => entryNow(person, id, ...statuses))

/** The same, if it is in such a state now. */
export async function entryNow(person: Person, id: string, ...statuses: string[]) {
  const { items } = okOf(await person.api.activity())
  const entry = items.find((item) => item.id === id)
  return entry && statuses.includes(entry.status) ? entry : undefined
}

export type Checkout = { paymentId: string; checkoutUrl: string; fiat: string; ausd: string }

/** A quote and a top-up: an open checkout. */
export async function openCheckout(
  person: Person,
  terms: { pair: 'USD/IDR' | 'USD/MYR'; amount: string; method: 'bank' | 'card' | 'qr' },
): Promise<Checkout> {
  const { pair, ...asked } = terms
  const quote = okOf(await person.api.quote(pair))
  return okOf(await person.api.topUp({ ...asked, quoteId: quote.id }))
}
