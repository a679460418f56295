import { printOutcome } from '../../../prove/outcome'
import { tryAll } from './crashes'
import { type Options, readOptions, usage } from './options'
import { paths } from './paths'
import { planOf } from './plan'
import { lineOf, listOf, summaryOf, unpassed } from './report'

/** Runs the plan `crashes` of `run.ts`. Returns the exit code. */
export async function crashes(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(usage)
    return 0
  }
  if (words.includes('--list')) {
    console.log(listOf(paths))
    return 0
  }
  let options: Options
  try {
    options = readOptions(words)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const startedMs = performance.now()
  const trials = planOf(paths, options)
  let count = 0
  const { tried, faults } = await tryAll(trials, options.stacks, (one) => {
    count += 1
    console.log(`${String(count).padStart(5)}/${trials.length} ${lineOf(one)}`)
  })
  const strange = unpassed(paths).map((name) => `no path passes ${name}`)
  const failed = tried.filter(({ fault }) => fault !== null).map(lineOf)
  console.log(`\n${summaryOf(tried, (performance.now() - startedMs) / 1_000)}`)
  console.log(JSON.stringify(options))
  for (const one of [...failed, ...faults, ...strange]) console.log(one)
  const found = failed.length + faults.length + strange.length
  printOutcome({ amount: `${tried.length} trials`, found })
  return found > 0 ? 1 : 0
}
