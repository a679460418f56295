import { report } from '#infra/compose/smoke-test/report'
import { readWords, refuseWords } from '#infra/local/words'
import { runCommand } from '#platform/command'
import { printOutcome } from '../prove/outcome'
import { natsFailover } from './nats'
import { postgresFailover } from './postgres'

const usage = `bun run prove failover [nats] [postgres]    both parts unless one is named

The exit code is 0 if every step passed.`

const { positionals: parts } = readWords(usage, { allowPositionals: true })
const unknown = parts.find((part) => part !== 'nats' && part !== 'postgres')
if (unknown) refuseWords(`unknown part: ${unknown}`, usage)
const isAsked = (part: string) => parts.length === 0 || parts.includes(part)

await runCommand(
  () => [],
  async (say) => {
    if (isAsked('nats')) await natsFailover()
    if (isAsked('postgres')) await postgresFailover()
    const { text, code, steps, wrong } = report()
    say(text)
    printOutcome({ amount: `${steps} steps`, found: wrong })
    return code
  },
)
process.exit()
