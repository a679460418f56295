import { outsideOf } from '#infra/demo/external'
import { readWords, refuseWords } from '#infra/local/words'
import { quantile } from '../bench/quantile'
import { printOutcome } from '../prove/outcome'
import { booksClose } from '../support/books'
import { ownStack } from '../support/stack'
import { dependencies, outage, type Recovery } from './outages'

const usage = `bun run prove outages [--seconds 60] [--people 30] [--only nats|postgres|chain|provider]

Takes each dependency away from a stack in use, and prints how soon pending work completed
after its return.
The exit code is 0 if every item completed once and the books balance.`

const { values } = readWords(usage, {
  options: {
    seconds: { type: 'string', default: '60' },
    people: { type: 'string', default: '30' },
    only: { type: 'string' },
  },
})
const [seconds, people] = [Number(values.seconds), Number(values.people)]
if (!(seconds > 0)) refuseWords('--seconds must be above 0', usage)
if (!(people >= 3)) refuseWords('--people must be at least 3', usage)

const row = ({ name, answersMs, endsMs }: Recovery) =>
  `| ${name} | ${answersMs} | ${endsMs.length} | ${quantile(endsMs, 0.5)} | ${quantile(endsMs, 0.99)} |`

{
  // The recheck intervals and webhook retries are those of a deployment.
  await using stack = await ownStack({ times: 'deployed', env: {}, proxied: true })
  const world = { stack, outside: outsideOf(stack.info) }
  console.log('| away | responds again, ms | items | completed, p50 ms | p99 ms |')
  console.log('| --- | ---: | ---: | ---: | ---: |')
  const chosen = dependencies.filter(({ name }) => !values.only || values.only === name)
  for (const dependency of chosen) console.log(row(await outage(world, dependency, { people, seconds })))
  await booksClose(stack)
  printOutcome({
    amount: `${seconds} s without each of ${chosen.length}, ${people} flows`,
    found: 0,
  })
}
process.exit(0)
