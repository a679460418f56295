import { availableParallelism } from 'node:os'
import { readWords } from '#infra/local/words'
import './parts'
import { openReport } from './report'
import { spread } from './spread'
import type { Task, World } from './worker'
import { flowsMax, seedOf, walletsFor } from './worlds'

const usage = `bun run prove simulation [--flows N] [--seed S]
  --flows N   number of flows, in worlds of at most ${flowsMax} (20000)
  --seed S    seed of every random choice (1)
  --minutes M start no new world after M minutes
  --world W   only world W of the seed; prints a story if it fails
  --workers N worker processes (one per core); the result does not depend on it
  --walk W    instead, every interleaving of one payment and one cash-out: short, long, or words of a name
  --once      run each world once; otherwise twice, and both runs must be identical`

const { values } = readWords(usage, {
  options: {
    flows: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: 'Infinity' },
    world: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    walk: { type: 'string' },
    once: { type: 'boolean', default: false },
  },
})
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

/** The first failed world, since worlds end in any order. */
let failed: World | undefined
let given = from
const isOver = () => performance.now() > Number(values.minutes) * 60_000
const report = openReport({ worlds: to - from, flows, seed, isOnce })
await spread<Task, World>({
  workers: Math.min(workers, to - from),
  next: () => (failed || given === to || isOver() ? undefined : { seed, world: given++, flows, isOnce }),
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
    console.log(`world ${world} of seed ${seed}: the second run differed from the first`)
    process.exit(1)
  }
  console.log(`\nworld ${world} of seed ${seed}: ${finding}`)
  console.log(
    `To repeat: bun run prove simulation --seed ${seed} --world ${world}${flows < flowsMax ? ` --flows ${flows}` : ''}\n`,
  )
  // These modules must load after the stand-ins are installed.
  const { runWorld } = await import('./run')
  const { shrink } = await import('./shrink')
  const { openWallets } = await import('./world/wallets')
  const failing = { seed: seedOf(seed, world), flows, finding }
  const { findings, lines } = shrink(runWorld, await openWallets(walletsFor(flows)), failing)
  console.log('Shortest failing story:\n')
  for (const line of lines) console.log(line)
  console.log(`\nFindings:\n  ${findings.join('\n  ')}`)
  process.exit(1)
}
