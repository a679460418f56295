import { readWords } from '#infra/local/words'
import { printOutcome } from '../prove/outcome'
import { verifiedUser } from '../support/people'
import { ownStack } from '../support/stack'
import { fuzz } from './fuzz'

const usage = `bun run prove fuzz [--requests N] [--seed S]

  --requests   number of requests (default: 20000)
  --seed       fixes what is requested (default: 1)`

const { values } = readWords(usage, {
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
})
const options = { requests: Number(values.requests), seed: Number(values.seed) }
await using stack = await ownStack()
const { asked, statuses, findings } = await fuzz(stack, await verifiedUser(stack), options)
for (const [what, count] of [...statuses].sort()) console.log(`  ${what.padEnd(27)}${count}`)
for (const one of findings.slice(0, 40)) console.log(`  ${one}`)
printOutcome({ amount: `${asked} requests, seed ${options.seed}`, found: findings.length })
process.exitCode = findings.length > 0 ? 1 : 0
