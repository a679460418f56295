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
type Run = { readonly credits: readonly Credit[]; readonly refused: number }

/** Top-ups from the quote to the collateral at two rates, whatever became of those before. */
export async function benchSustained(stack: Stack, options: Options): Promise<Figure[]> {
  const count = options.payments
  const people = await verifiedUsers(stack, Math.min(peopleMax, count))
  const steady = await runAt(stack, people, { count, perSecond: waitRate })
  const pressed = await runAt(stack, people, { count, perSecond: numberRate })
  const took = steady.credits.map(({ tookMs }) => tookMs)
  const said = ({ credits, refused }: Run, rate: number) =>
    `${credits.length} at ${rate} a second, ${refused} refused`
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

/** A top-up that is refused under load is counted, and nobody tries it again. */
async function runAt(
  stack: Stack,
  people: readonly Person[],
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Run> {
  await using credits = watchCredits(stack)
  const outside = outsideOf(stack.info)
  const all = await arrive(count, 1_000 / perSecond, async (index): Promise<Credit | undefined> => {
    const paymentId = await openCheckout(people[index % people.length]!).catch(() => undefined)
    if (!paymentId) return undefined
    const paidAt = performance.now()
    await outside.pay(paymentId, 'QRIS')
    const at = await credits.creditedAt(paymentId)
    return { tookMs: at - paidAt, at }
  })
  const seen = all.filter((one) => one !== undefined)
  return { credits: seen, refused: all.length - seen.length }
}

/** Between the first tenth of them and the last: while nobody comes or only waits for the end. */
function creditedPerSecond({ credits }: Run): number {
  const times = credits.map(({ at }) => at)
  const seconds = (quantile(times, 0.9) - quantile(times, 0.1)) / 1_000
  return (0.8 * credits.length) / seconds
}
