import { outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { quantile } from '../quantile'
import { arrive } from './arrivals'
import { openCheckout, verifiedUsers, watchCredits } from './customers'

const bench = 'sustained'
const peopleMax = 200
/** Top-ups each second: of which the wait counts, and of which the number that are credited. */
const [waitRate, numberRate] = [60, 120]

type Credit = { readonly tookMs: number; readonly at: number }
type Run = {
  readonly startedAt: number
  readonly credits: readonly Credit[]
  readonly refused: number
  readonly unpaid: number
}
/** Whoever was paid is waited for, however far the service is behind: one that is lost fails the bench. */
const waitMaxMs = 600_000

/** Top-ups from the quote to the collateral at two rates, whatever became of those before. */
export async function benchSustained(stack: Stack, options: Options): Promise<Figure[]> {
  const count = options.payments
  const people = await verifiedUsers(stack, Math.min(peopleMax, count))
  const steady = await runAt(stack, people, { count, perSecond: waitRate })
  const pressed = await runAt(stack, people, { count, perSecond: numberRate })
  const took = steady.credits.map(({ tookMs }) => tookMs)
  const said = ({ credits, refused, unpaid }: Run, rate: number) =>
    `${credits.length} at ${rate} a second, ${refused} refused, of ${unpaid} the checkout did not answer`
  return [
    {
      ...{ bench, name: `paid to credited at ${waitRate}/s, p50`, unit: 'ms' },
      value: quantile(took, 0.5),
    },
    {
      ...{ bench, name: `paid to credited at ${waitRate}/s, p99`, unit: 'ms' },
      value: quantile(took, 0.99),
      aim: { of: 'value', bound: 'at most', limit: 5_000 },
      note: said(steady, waitRate),
    },
    {
      ...{ bench, name: `payments credited at ${numberRate}/s`, unit: 'per second' },
      value: creditedPerSecond(pressed),
      ...against(creditedPerSecond(pressed), numberRate, 'those that were asked for'),
      aim: { of: 'value', bound: 'at least', limit: 100 },
      note: said(pressed, numberRate),
    },
  ]
}

/**
 * A top-up that is refused under load is counted, and nobody tries it again; nor does a payer whose page does
 * not answer: whether they have paid is unknown.
 */
async function runAt(
  stack: Stack,
  people: readonly Person[],
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Run> {
  await using credits = watchCredits(stack, waitMaxMs)
  const outside = outsideOf(stack.info)
  const topUp = async (index: number): Promise<Credit | 'refused' | 'unpaid'> => {
    const paymentId = await openCheckout(people[index % people.length]!).catch(() => undefined)
    if (!paymentId) return 'refused'
    const paidAt = performance.now()
    const isPaid = await outside.pay(paymentId, 'QRIS').then(
      () => true,
      () => false,
    )
    if (!isPaid) return 'unpaid'
    const at = await credits.creditedAt(paymentId)
    return { tookMs: at - paidAt, at }
  }
  const startedAt = performance.now()
  const all = await arrive(count, 1_000 / perSecond, topUp)
  const countOf = (what: string) => all.filter((one) => one === what).length
  return {
    startedAt,
    credits: all.filter((one) => typeof one === 'object'),
    ...{ refused: countOf('refused'), unpaid: countOf('unpaid') },
  }
}

/** From the first that came to the last that is credited: what waited is within it. */
const creditedPerSecond = ({ credits, startedAt }: Run): number =>
  credits.length / ((Math.max(...credits.map(({ at }) => at)) - startedAt) / 1_000)
