import { readWords, refuseWords } from '#infra/local/words'
import { quantile } from '../../bench/quantile'
import { printOutcome } from '../../prove/outcome'
import { dependencies } from '../faults'
import { type Recovery, runOutages } from './outages'

const usage = `bun run prove outages [--seconds 60] [--people 30] [--only nats|postgres|chain|provider]

Takes each dependency away from a stack in use, and prints how soon pending work completed
after its return.
The exit code is 0 if every item completed and the audit finds nothing.`

const row = ({ name, answersMs, endsMs }: Recovery) =>
  `| ${name} | ${answersMs} | ${endsMs.length} | ${quantile(endsMs, 0.5)} | ${quantile(endsMs, 0.99)} |`

/** Runs the plan `outages` of `run.ts`. Returns the exit code. */
export async function outages(words: readonly string[]): Promise<number> {
  const { values } = readWords(usage, {
    args: [...words],
    options: {
      seconds: { type: 'string', default: '60' },
      people: { type: 'string', default: '30' },
      only: { type: 'string' },
    },
  })
  const [seconds, people] = [Number(values.seconds), Number(values.people)]
  if (!(seconds > 0)) refuseWords('--seconds must be above 0', usage)
  if (!(people >= 3)) refuseWords('--people must be at least 3', usage)
  if (values.only && dependencies.every(({ name }) => name !== values.only))
    refuseWords(`--only must be one of ${dependencies.map(({ name }) => name).join(', ')}`, usage)
  console.log('| away | responds again, ms | items | completed, p50 ms | p99 ms |')
  console.log('| --- | ---: | ---: | ---: | ---: |')
  const findings = await runOutages({ seconds, people, only: values.only }, (one) => console.log(row(one)))
  for (const finding of findings) console.log(finding)
  const count = values.only ? 1 : dependencies.length
  printOutcome({ amount: `${seconds} s without each of ${count}, ${people} flows`, found: findings.length })
  return findings.length > 0 ? 1 : 0
}
