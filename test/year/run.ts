import { pairs } from '#shared/money/pair'
import { printOutcome } from '../prove/outcome'
import { bestOfDays, closedHours, costUsd, type Outage, playYear, waits } from './year'

const limitUsd = 20_000
const directions = [
  ['payIn', 'money in'],
  ['payOut', 'cash-outs'],
] as const
const outages: readonly (readonly [string, readonly Outage[]])[] = [
  ['all', []],
  ['without open-er-api', ['open-er-api']],
  ['without indodax', ['indodax']],
  ['without both', ['open-er-api', 'indodax']],
]
const played = pairs.flatMap((pair) =>
  outages.map(([sources, without]) => ({ pair, sources, hours: playYear(pair, without) })),
)
const directionsOf = (pair: string) => directions.filter(([direction]) => pair === 'USD/IDR' || direction === 'payIn')

console.log('Prices: European Central Bank. Assumed: USDT trades up to 0.6 % above the dollar, also at weekends.')
console.log('\nHours of 2025 without a quote\n')
console.log('| pair | direction | sources | hours | reasons |\n|---|---|---|--:|---|')
let found = 0
for (const { pair, sources, hours } of played)
  for (const [direction, name] of directionsOf(pair)) {
    const reasons = closedHours(hours, direction)
    const total = [...reasons.values()].reduce((sum, count) => sum + count, 0)
    if (direction === 'payIn') found += total
    const words = [...reasons].map(([reason, count]) => `${reason} ${count}`).join(', ')
    console.log(`| ${pair} | ${name} | ${sources} | ${total} | ${words} |`)
  }

console.log('\nGain of an attacker who knows the next rate, in hundredths of a percent, by the best hour of each day\n')
console.log(
  '| pair | direction | market | best | when | days with a gain | mean of all days |\n|---|---|---|--:|---|--:|--:|',
)
for (const { pair, hours } of played.filter(({ sources }) => sources === 'all'))
  for (const [direction, name] of directionsOf(pair))
    for (const market of ['closed', 'open'] as const) {
      const days = bestOfDays(waits(hours, direction, market))
      const best = days.toSorted((one, other) => other.gainBps - one.gainBps)[0]!
      const gains = days.filter(({ gainBps }) => gainBps > 0).length
      const mean = days.reduce((sum, { gainBps }) => sum + gainBps, 0) / days.length
      const when = new Date(best.atMs).toISOString().slice(0, 13)
      console.log(
        `| ${pair} | ${name} | ${market} | ${best.gainBps} | ${when}h | ${gains} of ${days.length} | ${mean.toFixed(1)} |`,
      )
    }

const { hours } = played[0]!
const cost = costUsd(bestOfDays(waits(hours, 'payOut', 'closed')), limitUsd)
console.log(
  `\nCASHOUT_CLOSED_DAY_MAX_USD=${limitUsd}, used up by that attacker on every day of 2025, costs USD ${cost}.`,
)
printOutcome({ amount: `${played.length * hours.length} hours`, found })
