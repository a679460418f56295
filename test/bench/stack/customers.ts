import postgres from 'postgres'
import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause, within } from '#shared/deadline'

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

const lookEveryMs = 20

/** Reads the payments' own rows, for all at once: asking the gateway for each would be load of its own. */
export function watchCredits(stack: Stack, waitMaxMs = 120_000) {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  const awaited = new Map<string, (at: number) => void>()
  const ended = new AbortController()
  const look = async () => {
    const rows = await sql<{ id: string }[]>`
      select id from payments.payments
      where id = any(${[...awaited.keys()]}) and state = 'credited'`
    const at = performance.now()
    for (const { id } of rows) {
      awaited.get(id)?.(at)
      awaited.delete(id)
    }
  }
  const looking = (async () => {
    while (!ended.signal.aborted) {
      if (awaited.size > 0) await look()
      await pause(lookEveryMs, ended.signal)
    }
  })()
  return {
    /** When it was seen to be credited, by `performance.now()`. */
    creditedAt: (id: string): Promise<number> => {
      const { promise, resolve } = Promise.withResolvers<number>()
      awaited.set(id, resolve)
      return within(promise, waitMaxMs, `the credit of ${id}`)
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort()
      await looking
      await sql.end()
    },
  }
}
