import { report } from '#infra/compose/smoke-test/report'
import { runCommand } from '#platform/command'
import { printOutcome } from '../prove/outcome'
import { natsFailover } from './nats'
import { postgresFailover } from './postgres'

/** This script is `bun run prove failover [nats] [postgres]`. Its exit code is 0 if every step passed. */
const parts = process.argv.slice(2)
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
