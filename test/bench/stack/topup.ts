import postgres from 'postgres'
import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { Figure } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { quantileFigures } from './quantiles'
import { chainYardstick, postYardstick } from './yardsticks'

const bench = 'topup'
const peopleMax = 10

type Paid = { readonly paymentId: string; readonly paidAt: number; readonly creditedAt: number }

/** Top-ups at a fixed rate: how soon webhooks get their 200, and money paid is credited for good. */
export async function benchTopup(stack: Stack, options: Options): Promise<Figure[]> {
  const people = await verifiedUsers(stack, Math.min(peopleMax, options.topups))
  const everyMs = 1_000 / options.topupsPerSecond
  const chain = await chainYardstick(stack)
  const bare = await postYardstick(options.topups, everyMs)

  await using credits = watchCredits(stack)
  const outside = outsideOf(stack.info)
  const paid = await arrive(options.topups, everyMs, async (index): Promise<Paid> => {
    const paymentId = await openCheckout(people[index % people.length]!)
    const paidAt = performance.now()
    await outside.pay(paymentId, 'QRIS')
    return { paymentId, paidAt, creditedAt: await credits.creditedAt(paymentId) }
  })
  const answers = await webhookAnswers(stack)
  const refused = answers.filter(({ status }) => status !== 200).length
  if (refused > 0) throw new Error(`${refused} of ${answers.length} webhooks did not get a 200`)
  const tookMs = answers.map(({ took_ms }) => took_ms)
  const credited = paid.map(({ paidAt, creditedAt }) => creditedAt - paidAt)
  return [
    ...quantileFigures(bench, 'webhook to 200', tookMs, { value: bare, to: 'bare POST, p50' }),
    ...quantileFigures(bench, 'paid to credited', credited, {
      value: chain,
      to: `sent to final on the bare chain, p50 ${Math.round(chain)} ms`,
    }),
    { bench, name: 'arrival rate', value: options.topupsPerSecond, unit: 'per second' },
  ]
}

async function verifiedUsers(stack: Stack, count: number): Promise<Person[]> {
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

async function openCheckout(person: Person): Promise<string> {
  const quote = await person.quote('USD/IDR')
  const body = { amount: '500000', method: 'qr', quoteId: quote.id }
  const reply = await person.post('/topups', body)
  if (reply.status !== 200) throw new Error(`a top-up was refused: ${reply.body.error}`)
  return reply.body.paymentId
}

/** Reads the payments' own rows: asking the gateway for each would be load of its own. */
function watchCredits(stack: Stack) {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  const seen = new Map<string, number>()
  const read = async () => {
    const rows = await sql<{ id: string }[]>`
      select id from payments.payments where state = 'credited'`
    for (const { id } of rows) if (!seen.has(id)) seen.set(id, performance.now())
  }
  let reading: Promise<void> | undefined
  return {
    creditedAt: (id: string) =>
      waitUntil(
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
      ),
    [Symbol.asyncDispose]: () => sql.end(),
  }
}

type Attempt = { readonly status: number | null; readonly took_ms: number }

async function webhookAnswers(stack: Stack): Promise<Attempt[]> {
  const { webhooks = [] } = await outsideOf(stack.info).book()
  return webhooks
    .filter(({ source }) => source === 'payments')
    .flatMap(({ attempts }) => attempts as Attempt[])
}
