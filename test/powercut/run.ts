import { connect } from 'nats'
import { expecting, report, seconds, step } from '#infra/compose/smoke-test/report'
import type { Stack } from '#infra/local/stack'
import type { ProcessDeath } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { passwordVariable } from '#infra/nats/server-environment'
import { runCommand } from '#platform/command'
import { serviceNames } from '#shared/messages/topic'
import { endOfLoad } from '../failover/closing'
import { type Load, startLoad, statesOf } from '../failover/load'
import { unstored } from '../failover/stored'
import { printOutcome } from '../prove/outcome'
import { ownStack } from '../support/stack'
import { damagePage, damageStream } from './damage'
import { type Machine, startMachine } from './machine'

const cuts = 3
/** Least number of pending payments at each cut. */
const loadMin = 15

/**
 * This script is `bun run prove powercut`: it cuts the power of Postgres, JetStream and the services under load; chain
 * and provider continue. Its exit code is 0 if every step passed.
 */
await runCommand(
  () => [],
  async (say) => {
    await powerCuts()
    const { text, code, steps, wrong } = report()
    say(text)
    printOutcome({ amount: `${steps} steps`, found: wrong })
    return code
  },
)
process.exit()

async function powerCuts(): Promise<void> {
  await using machine = await startMachine()
  const deaths: ProcessDeath[] = []
  await using stack = await ownStack({
    onDeath: (death) => void deaths.push(death),
    own: {
      DATABASE_URL: machine.adminUrl,
      NATS_URL: machine.natsUrl,
      ...Object.fromEntries(Object.entries(machine.passwords).map(([user, word]) => [passwordVariable(user), word])),
    },
  })
  const load = await startLoad(stack)
  await step(
    'a machine with its own disk',
    async () => `a payment was credited after ${seconds(await load.nextCredited())}`,
    { vital: true },
  )
  for (let cut = 1; cut <= cuts; cut++)
    await step(`power cut ${cut} of ${cuts}`, () => cutUnderLoad(machine, stack, load), {
      vital: true,
    })
  await endOfLoad(stack, load, deaths)
  const audit = () => everyMessage(machine, stack)
  await step('every confirmed message is stored', audit)
  await step('a byte of a table changes', () => damagePage(machine, stack))
  await step('a byte of a stream changes', () => damageStream(machine, stack, audit))
}

async function cutUnderLoad(machine: Machine, stack: Stack, load: Load): Promise<string> {
  const first = load.promised.length
  await waitUntil('payments', () => load.promised.length >= first + loadMin, 120_000)
  for (const name of serviceNames) stack.process(name).kill('SIGSTOP')
  await machine.cutPower()
  const promised = [...load.promised]
  await Promise.all(serviceNames.map((name) => stack.process(name).stop('SIGKILL')))
  const startedAt = Date.now()
  await machine.powerOn()
  for (const name of serviceNames) stack.process(name).start()
  const states = await statesOf(stack, promised)
  const lost = promised.filter((id) => !states.has(id))
  expecting(lost.length === 0, `${lost.length} of ${promised.length} are lost: ${lost.join(', ')}`)
  const creditedMs = await load.nextCredited(60_000)
  return `${promised.length} payments stored; the engines started after ${seconds(Date.now() - startedAt - creditedMs)}, a payment was credited ${seconds(creditedMs)} later`
}

/** Compares confirmed messages with the streams, each of which must contain its own. */
async function everyMessage({ natsUrl, passwords }: Machine, stack: Stack): Promise<string> {
  const as = { user: 'admin', pass: passwords.admin, inboxPrefix: '_INBOX_admin' }
  const admin = await connect({ servers: natsUrl, ...as })
  try {
    return await unstored(stack, admin)
  } finally {
    await admin.close()
  }
}
