import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import './parts'
import { openReport } from './report'
import { spread } from './spread'
import type { Task, World } from './worker'
import { flowsMax, seedOf, walletsFor } from './worlds'

const usage = `bun run prove simulation [--flows N] [--seed S]
  --flows N   how many flows in all, in worlds of ${flowsMax} at most (20000)
  --seed S    what everything that is left to chance follows from (1)
  --minutes M no new world after so long, however many flows are left
  --world W   this world of the seed alone, told as a story if it fails
  --workers N over how many processes the worlds are spread (one a core); the result is the same
  --walk W    instead, every interleaving of one payment and of one cash-out: short, long, or words of a name
  --once      each world once; otherwise twice, and both runs must be the same`

const { values } = parseArgs({
  options: {
    flows: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: 'Infinity' },
    world: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    walk: { type: 'string' },
    once: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const workers = Math.max(1, Number(values.workers))

if (values.walk !== undefined) {
  const { walkAll } = await import('./walk/all')
  const isWell = await walkAll(values.walk, workers, console.log)
  console.log(isWell ? '\nevery state was visited, and from each an end can be reached' : '')
  process.exit(isWell ? 0 : 1)
}

const seed = Number(values.seed)
const isOnce = values.once
const only = values.world === undefined ? undefined : Number(values.world)
const from = only ?? 0
const flows = Math.min(Number(values.flows), flowsMax)
const to = from + (only === undefined ? Math.ceil(Number(values.flows) / flows) : 1)

/** The first world in which something is wrong: worlds end in another order than they began in. */
let failed: World | undefined
let given = from
const isOver = () => performance.now() > Number(values.minutes) * 60_000
const report = openReport({ worlds: to - from, flows, seed, isOnce })
await spread<Task, World>({
  workers: Math.min(workers, to - from),
  next: () =>
    failed || given === to || isOver() ? undefined : { seed, world: given++, flows, isOnce },
  onResult: (result) => {
    report.add(result)
    const isWrong = result.finding !== undefined || !result.isSame
    if (isWrong && !(failed && failed.world < result.world)) failed = result
  },
})
if (failed) await fail(failed)
process.exit((await report.end()) ? 0 : 1)

async function fail({ world, finding }: World): Promise<never> {
  if (finding === undefined) {
    console.log(`world ${world} of seed ${seed} went another way the second time`)
    process.exit(1)
  }
  console.log(`\nworld ${world} of seed ${seed}: ${finding}`)
  console.log(
    `again: bun run prove simulation --seed ${seed} --world ${world}${flows < flowsMax ? ` --flows ${flows}` : ''}\n`,
  )
  // Loaded after the parts are in their place.
  const { runWorld } = await import('./run')
  const { shrink } = await import('./shrink')
  const { openWallets } = await import('./world/wallets')
  const failing = { seed: seedOf(seed, world), flows, finding }
  const { findings, lines } = shrink(runWorld, await openWallets(walletsFor(flows)), failing)
  console.log('A short story of it:\n')
  for (const line of lines) console.log(line)
  console.log(`\nWhat is wrong in the end:\n  ${findings.join('\n  ')}`)
  process.exit(1)
}
