import { writeFileSync } from 'node:fs'
import { faultOf, helpIfAsked, refuseWords } from '#infra/local/words'
import { benchBackfill } from './backfill/backfill'
import { layGround } from './backfill/ground'
import type { Run } from './backfill/reader'
import type { Figure } from './figure'
import { benchFloods } from './floods/floods'
import { heedSignals, unlessInterrupted } from './interrupt'
import { machineText, thisMachine } from './machine'
import { type Options, readOptions, usage } from './options'
import { benchPonder } from './ponder/ponder'
import { writeResults } from './results'
import { benchSends } from './sends/sends'
import { benchStack } from './stack/stack'
import { tableOf } from './table'
import { benchWebhook } from './webhook/webhook'
import { benchX402 } from './x402/x402'

/** This script is `bun run bench [name …]`; see `test/bench/README.md`. */
const say = (line: string) => console.error(`  ${line}`)

async function benchReading(options: Options): Promise<Figure[]> {
  if (!options.names.includes('backfill') && !options.names.includes('ponder')) return []
  await using ground = await layGround(options.events, say)
  const figures: Figure[] = []
  let ours: Run | undefined
  if (options.names.includes('backfill')) {
    say('backfill')
    const backfill = await unlessInterrupted(benchBackfill(ground))
    ours = backfill.run
    figures.push(...backfill.figures)
  }
  if (options.names.includes('ponder')) {
    say('ponder: installing Ponder')
    figures.push(...(await unlessInterrupted(benchPonder(ground, ours, say))))
  }
  return figures
}

const benchSending = async (options: Options): Promise<Figure[]> =>
  options.names.includes('sends') ? unlessInterrupted(benchSends(options, say)) : []

async function main(options: Options): Promise<void> {
  const machine = thisMachine()
  const figures = [
    ...(await benchReading(options)),
    ...(await benchStack(options, say)),
    ...(await benchSending(options)),
    ...(await unlessInterrupted(benchX402(options, say))),
    ...(await unlessInterrupted(benchWebhook(options))),
    ...(await unlessInterrupted(benchFloods(options, say))),
  ]
  const date = new Date().toISOString().slice(0, 10)
  const args = process.argv.slice(2)
  const aside = ['--note', '--json']
  const said = args.filter((arg, at) => !aside.includes(arg) && !aside.includes(args[at - 1] ?? ''))
  const command = ['bun run bench', ...said].join(' ')
  const result = { date, command, machine, note: options.note, figures }
  console.log(`\n${machineText(machine)}\n\n${tableOf(figures)}`)
  if (options.jsonPath) writeFileSync(options.jsonPath, `${JSON.stringify(result, null, 2)}\n`)
  if (options.write) writeResults(result)
}

helpIfAsked(process.argv.slice(2), usage)
let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  refuseWords(faultOf(error as Error), usage)
}
heedSignals()
await main(options).catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
process.exit()
