import { parseArgs } from 'node:util'
import { outsideOf } from '#infra/demo/outside'
import { quantile } from '../bench/quantile'
import { printOutcome } from '../prove/outcome'
import { booksClose } from '../support/books'
import { ownStack } from '../support/stack'
import { dependencies, outage, type Recovery } from './outages'

const usage = `bun run prove outages [--seconds 60] [--people 30] [--only nats|postgres|chain|provider]

Takes each dependency away while people use the service, and says how long after its return all was done.
Exit code 0: everything that was under way came to its end, once, and the books close.`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    people: { type: 'string', default: '30' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [seconds, people] = [Number(values.seconds), Number(values.people)]
if (values.help || !(seconds > 0) || !(people >= 3)) {
  console.log(usage)
  process.exit(values.help ? 0 : 2)
}

const row = ({ name, answersMs, endsMs }: Recovery) =>
  `| ${name} | ${answersMs} | ${endsMs.length} | ${quantile(endsMs, 0.5)} | ${quantile(endsMs, 0.99)} |`

{
  // As often as a deployment looks after what is quiet; the provider tries again as late as it does.
  await using stack = await ownStack({ times: 'deployed', env: {}, proxied: true })
  const world = { stack, outside: outsideOf(stack.info) }
  console.log('| away | answers again, ms | under way | at their end, p50 ms | p99 ms |')
  console.log('| --- | ---: | ---: | ---: | ---: |')
  const chosen = dependencies.filter(({ name }) => !values.only || values.only === name)
  for (const dependency of chosen)
    console.log(row(await outage(world, dependency, { people, seconds })))
  await booksClose(stack)
  printOutcome({
    amount: `${seconds} s without each of ${chosen.length}, ${people} flows`,
    found: 0,
  })
}
process.exit(0)
