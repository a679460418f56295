import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { verifiedUsers } from '../../support/people'
import { openCheckout } from '../../support/requests'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { quantile } from '../quantile'
import { arrive } from './arrivals'
import { watchCredits } from './credits'

const bench = 'sustained'
const peopleMax = 200
/** Top-ups per second when latency is measured, and when throughput is. */
const [waitRate, numberRate] = [60, 120]

type Credit = { readonly tookMs: number; readonly at: number }
type Run = {
  readonly startedAt: number
  readonly credits: readonly Credit[]
  readonly refused: number
  readonly unpaid: number
}
/** Longest wait for a credit in ms; a paid top-up without a credit fails the bench. */
const waitMaxMs = 600_000

/** Measures top-ups from quote to credit at two rates, as an open loop. */
export async function benchSustained(stack: Stack, options: Options): Promise<Figure[]> {
  const count = options.payments
  const people = await verifiedUsers(stack, Math.min(peopleMax, count))
  const steady = await runAt(stack, people, { count, perSecond: waitRate })
  const pressed = await runAt(stack, people, { count, perSecond: numberRate })
  const took = steady.credits.map(({ tookMs }) => tookMs)
  const said = ({ credits, refused, unpaid }: Run, rate: number) =>
    `${credits.length} credited at ${rate}/s, ${refused} not opened, ${unpaid} not paid`
  return [
    {
      bench,
      name: `paid to credited at ${waitRate}/s, p50`,
      unit: 'ms',
      value: quantile(took, 0.5),
    },
    {
      bench,
      name: `paid to credited at ${waitRate}/s, p99`,
      unit: 'ms',
      value: quantile(took, 0.99),
      aim: { of: 'value', bound: 'at most', limit: 5_000 },
      note: said(steady, waitRate),
    },
    {
      bench,
      name: `payments credited at ${numberRate}/s`,
      unit: 'per second',
      value: creditedPerSecond(pressed),
      ...against(creditedPerSecond(pressed), numberRate, 'requested rate'),
      aim: { of: 'value', bound: 'at least', limit: 100 },
      note: said(pressed, numberRate),
    },
  ]
}

/**
 * Runs at one rate. It counts top-ups that fail to open and those whose payment gets no response, and retries neither.
 */
async function runAt(
  stack: Stack,
  people: readonly Person[],
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Run> {
  await using credits = watchCredits(stack, waitMaxMs)
  const outside = outsideOf(stack.info)
  const topUp = async (index: number): Promise<Credit | 'refused' | 'unpaid'> => {
    const opened = await openCheckout(people[index % people.length]!).catch(() => undefined)
    if (!opened) return 'refused'
    const paidAt = performance.now()
    const isPaid = await outside.pay(opened.paymentId, 'QRIS').then(
      () => true,
      () => false,
    )
    if (!isPaid) return 'unpaid'
    const at = await credits.creditedAt(opened.paymentId)
    return { tookMs: at - paidAt, at }
  }
  const startedAt = performance.now()
  const all = await arrive(count, 1_000 / perSecond, topUp)
  const countOf = (what: string) => all.filter((one) => one === what).length
  return {
    startedAt,
    credits: all.filter((one) => typeof one === 'object'),
    refused: countOf('refused'),
    unpaid: countOf('unpaid'),
  }
}

/** Returns the credits per second from the first request to the last credit. */
const creditedPerSecond = ({ credits, startedAt }: Run): number =>
  credits.length / ((Math.max(...credits.map(({ at }) => at)) - startedAt) / 1_000)
