import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { verifiedUsers } from '../../support/people'
import { openCheckout } from '../../support/requests'
import type { Figure } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { watchCredits } from './credits'
import { quantileFigures } from './quantiles'
import { chainYardstick, postYardstick } from './yardsticks'

const bench = 'topup'
const peopleMax = 10

type Paid = { readonly paymentId: string; readonly paidAt: number; readonly creditedAt: number }

export async function benchTopup(stack: Stack, options: Options): Promise<Figure[]> {
  const people = await verifiedUsers(stack, Math.min(peopleMax, options.topups))
  const everyMs = 1_000 / options.topupsPerSecond
  const chain = await chainYardstick(stack)
  const bare = await postYardstick(options.topups, everyMs)

  await using credits = watchCredits(stack)
  const outside = outsideOf(stack.info)
  const paid = await arrive(options.topups, everyMs, async (index): Promise<Paid> => {
    const { paymentId } = await openCheckout(people[index % people.length]!)
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

type Attempt = { readonly status: number | null; readonly took_ms: number }

async function webhookAnswers(stack: Stack): Promise<Attempt[]> {
  const { webhooks = [] } = await outsideOf(stack.info).book()
  return webhooks.filter(({ source }) => source === 'payments').flatMap(({ attempts }) => attempts as Attempt[])
}
