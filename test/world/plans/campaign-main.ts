import { printOutcome } from '../../prove/outcome'
import { type Options, readOptions, usage } from '../options'
import { reportText } from '../report'
import { runCampaign } from './campaign'

/** Runs the plan `campaign` of `run.ts`. Returns the exit code. */
export async function campaign(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(usage)
    return 0
  }
  let options: Options
  try {
    options = readOptions(words)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const report = await runCampaign(options, (line) => console.error(`  ${line}`))
  console.log(reportText(report))
  const { record, happened, verdict } = report
  // A campaign without a fault or a payment proves nothing.
  const isIdle = happened.length === 0 || !verdict.counted['payments completed']
  if (isIdle) console.log('nothing happened: no fault, or no payment completed')
  const found = verdict.findings.length + (isIdle ? 1 : 0)
  printOutcome({ amount: `${happened.length} faults, ${record.deeds.length} flows`, found })
  return found === 0 ? 0 : 1
}
