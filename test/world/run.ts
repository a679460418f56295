import { printOutcome } from '../prove/outcome'
import { type Options, readOptions, usage } from './options'
import { runCampaign } from './plans/campaign'
import { reportText } from './report'

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}
let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}
const report = await runCampaign(options, (line) => console.error(`  ${line}`))
console.log(reportText(report))
const { record, happened, verdict } = report
// A campaign without a fault or a payment proves nothing.
const isIdle = happened.length === 0 || !verdict.counted['payments completed']
if (isIdle) console.log('nothing happened: no fault, or no payment completed')
const found = verdict.findings.length + (isIdle ? 1 : 0)
printOutcome({ amount: `${happened.length} faults, ${record.deeds.length} flows`, found })
process.exit(found === 0 ? 0 : 1)
