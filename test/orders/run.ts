import { readWords } from '#infra/local/words'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { printOutcome } from '../prove/outcome'
import { runRace } from './race'
import { races } from './races/races'
import { linesOf } from './report'

const usage = `bun run prove orders [words of a name] [--most N] [--sample N] [--until-wrong]
  --most N       run at most the first N orders of each race (all)
  --sample N     run N random orders of each race, the same each time
  --until-wrong  end a race at its first order that goes wrong`

const { values, positionals } = readWords(usage, {
  allowPositionals: true,
  options: {
    most: { type: 'string' },
    sample: { type: 'string' },
    'until-wrong': { type: 'boolean', default: false },
  },
})
const wanted = races.filter(({ name }) => name.includes(positionals.join(' ')))
const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
process.exitCode = (await run()) ? 1 : 0

async function run(): Promise<boolean> {
  await using server = await startScratchPostgres()
  const sums = { orders: 0, wrong: 0 }
  for (const race of wanted) {
    const report = await runRace(server, race, {
      sample: numberOf(values.sample) ?? race.chance,
      most: numberOf(values.most),
      untilWrong: values['until-wrong'],
    })
    for (const line of linesOf(race, report)) console.log(line)
    sums.orders += report.orders
    sums.wrong += report.wrong.length
  }
  printOutcome({
    amount: `${wanted.length} races, ${sums.orders.toLocaleString('en')} orders`,
    found: sums.wrong,
  })
  return sums.wrong > 0
}
