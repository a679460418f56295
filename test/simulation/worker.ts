import './parts'
import type { Ready } from './spread'
import type { Wallet } from './world/wallets'

// These modules must load after the stand-ins are installed.
const { runWorld } = await import('./run')
const { seeded } = await import('./world/choices')
const { openWallets } = await import('./world/wallets')
const { seedOf, walletsFor } = await import('./worlds')

export type Task =
  | {
      readonly seed: number
      readonly world: number
      readonly flows: number
      readonly isOnce: boolean
    }
  | { readonly walk: string }

export type World = {
  readonly world: number
  readonly finding: string | undefined
  /** True if both runs had the same result. */
  readonly isSame: boolean
  readonly digest: number
  readonly steps: number
  /** CPU time of the first run in ms. */
  readonly cpuMs: number
  readonly sights: readonly (readonly [string, number])[]
}

let wallets: readonly Wallet[] = []
const cpuMs = () => process.cpuUsage().user / 1_000

async function run({ seed, world, flows, isOnce }: Extract<Task, { world: number }>): Promise<World> {
  const people = walletsFor(flows)
  if (wallets.length !== people) wallets = await openWallets(people)
  const seen = new Map<string, number>()
  const note = (sight: string) => void seen.set(sight, (seen.get(sight) ?? 0) + 1)
  const go = (saw: (sight: string) => void) => runWorld({ choices: seeded(seedOf(seed, world)), flows, wallets, saw })
  const before = cpuMs()
  const { findings, digest, steps } = go(note)
  const took = cpuMs() - before
  const again = isOnce || findings[0] ? { digest, steps } : go(() => {})
  const isSame = again.digest === digest && again.steps === steps
  return { world, finding: findings[0], isSame, digest, steps, cpuMs: took, sights: [...seen] }
}

/** Ends this process with its parent. A walk blocks the event loop, so it checks that itself. */
const command = process.ppid
const endWithCommand = () => {
  if (process.ppid !== command) process.exit(1)
}
process.on('disconnect', () => process.exit(0))
process.on('message', async (task: Task) => {
  if ('world' in task) return process.send!((await run(task)) satisfies World)
  const { walk } = await import('./walk/walks')
  process.send!(walk(task.walk, endWithCommand))
})
process.send!({ isReady: true } satisfies Ready)
