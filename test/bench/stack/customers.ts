import postgres from 'postgres'
import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'

/** People who may top up. */
export async function verifiedUsers(stack: Stack, count: number): Promise<Person[]> {
  const outside = outsideOf(stack.info)
  return Promise.all(
    Array.from({ length: count }, async () => {
      const person = personOf(stack.info, generatePrivateKey())
      await outside.identity(person.wallet, 'approved')
      await person.until('verification', (me) => me.verified)
      return person
    }),
  )
}

/** A checkout of Rp 500,000 by QRIS: its payment id. */
export async function openCheckout(person: Person): Promise<string> {
  const quote = await person.quote('USD/IDR')
  const body = { amount: '500000', method: 'qr', quoteId: quote.id }
  const reply = await person.post('/topups', body)
  if (reply.status !== 200) throw new Error(`a top-up was refused: ${reply.body.error}`)
  return reply.body.paymentId
}

/** Reads the payments' own rows: asking the gateway for each would be load of its own. */
export function watchCredits(stack: Stack) {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  const seen = new Map<string, number>()
  const awaited = new Set<string>()
  const read = async () => {
    const rows = await sql<{ id: string }[]>`
      select id from payments.payments where id = any(${[...awaited]}) and state = 'credited'`
    for (const { id } of rows) {
      awaited.delete(id)
      seen.set(id, performance.now())
    }
  }
  let reading: Promise<void> | undefined
  return {
    creditedAt: (id: string) => {
      awaited.add(id)
      return waitUntil(
        `payment ${id} being credited`,
        async () => {
          reading ??= read().finally(() => {
            reading = undefined
          })
          await reading
          return seen.get(id)
        },
        60_000,
        20,
      )
    },
    [Symbol.asyncDispose]: () => sql.end(),
  }
}
