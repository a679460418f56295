import { expecting, report, seconds, step } from '#infra/compose/smoke-test/report'
import type { ProcessDeath } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { runCommand } from '#platform/command'
import { serviceNames } from '#shared/messages/topic'
import { endOfLoad } from '../failover/closing'
import { type Load, startLoad } from '../failover/load'
import { printOutcome } from '../prove/outcome'
import { announcedIn, notedAsPublished, storedMessages } from '../world/audit/messages'
import { stores } from '../world/drivers/power'
import { openWorld, type World } from '../world/drivers/stack'
import { entriesOf } from '../world/quiet'
import { damagePage, damageStream } from './damage'

const cuts = 3
/** Least number of pending payments at each cut. */
const loadMin = 15
/** Longest reading of the streams in ms, of which a damaged one does not end. */
const readMaxMs = 20_000

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
  const deaths: ProcessDeath[] = []
  await using world = await openWorld('one', { disks: true, onDeath: (death) => void deaths.push(death) })
  const load = await startLoad(world)
  await step(
    'stores with disks of their own',
    async () => `a payment was credited after ${seconds(await load.nextCredited())}`,
    { vital: true },
  )
  for (let cut = 1; cut <= cuts; cut++)
    await step(`power cut ${cut} of ${cuts}`, () => cutUnderLoad(world, load), {
      vital: true,
    })
  await endOfLoad(world, load, deaths)
  await step('a byte of a table changes', () => damagePage(world, load))
  await step('a byte of a stream changes', () => damageStream(world, load, () => everyMessage(world)))
}

async function cutUnderLoad({ stack, power }: World, load: Load): Promise<string> {
  const first = load.accepted().length
  await waitUntil('accepted requests', () => load.accepted().length >= first + loadMin, 120_000)
  for (const name of serviceNames) stack.process(name).kill('SIGSTOP')
  await power!.cut(...stores)
  const promised = load.accepted()
  await Promise.all(serviceNames.map((name) => stack.process(name).stop('SIGKILL')))
  const startedAt = Date.now()
  await power!.on(...stores)
  for (const name of serviceNames) stack.process(name).start()
  const reading = (person: Load['people'][number]) => waitUntil("a user's activity", () => entriesOf(person), 60_000)
  const known = new Set((await Promise.all(load.people.map(reading))).flat().map(({ id }) => id))
  const lost = promised.filter((id) => !known.has(id))
  expecting(lost.length === 0, `${lost.length} of ${promised.length} are lost: ${lost.join(', ')}`)
  const creditedMs = await load.nextCredited(60_000)
  return `${promised.length} requests stored; the engines started after ${seconds(Date.now() - startedAt - creditedMs)}, a payment was credited ${seconds(creditedMs)} later`
}

/** Compares published messages with the streams. Throws if one is missing. */
async function everyMessage({ stack }: World): Promise<void> {
  const { missing } = announcedIn(await notedAsPublished(stack), await storedMessages(stack, readMaxMs))
  expecting(missing.length === 0, missing.join('; '))
}
