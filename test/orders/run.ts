import { readWords } from '#infra/local/words'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { printOutcome } from '../prove/outcome'
import { runRace } from './race'
import { races } from './races/races'
import { linesOf, withoutGuard } from './report'

const usage = `bun run prove orders [words of a name] [--most N] [--sample N] [--guards]
  --most N     run at most the first N orders of each race (all)
  --sample N   run N random orders of each race, the same each time
  --guards     instead, remove each guard and print the first order that goes wrong`

const { values, positionals } = readWords(usage, {
  allowPositionals: true,
  options: {
    most: { type: 'string' },
    sample: { type: 'string' },
    guards: { type: 'boolean', default: false },
  },
})
const wanted = races.filter(({ name }) => name.includes(positionals.join(' ')))
const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
process.exitCode = (await run()) ? 1 : 0

async function run(): Promise<boolean> {
  await using server = await startScratchPostgres()
  return await (values.guards ? runWithoutGuards(server) : runAll(server))
}

async function runAll(server: Parameters<typeof runRace>[0]): Promise<boolean> {
  const sums = { orders: 0, wrong: 0 }
  for (const race of wanted) {
    const report = await runRace(server, race, {
      sample: numberOf(values.sample) ?? race.chance,
      most: numberOf(values.most),
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

async function runWithoutGuards(server: Parameters<typeof runRace>[0]): Promise<boolean> {
  let silent = 0
  for (const race of wanted)
    for (const guard of race.guards) {
      const wrong = await withoutGuard(server, race, guard, Number(values.sample ?? 500))
      if (!wrong) silent++
      console.log(`\n${race.name}\n  without ${guard.name}: ${wrong ?? 'nothing goes wrong'}`)
    }
  printOutcome({ amount: `guards of ${wanted.length} races`, found: silent })
  return silent > 0
}
