import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkBooks } from '#infra/books/reconcile'
import { waitUntil } from '#infra/local/wait'
import { placeOf } from '#infra/ops/place'
import type { Trial } from './plan'
import { type Outcome, tryKills } from './trial'
import { openWorld, type World } from './world'

export type Tried = Trial & Outcome

/** Items of one stack: its book and its chain grow, and every check reads them. */
const trialsMax = 50

/** Tries all of them, on so many stacks at once; each is told as it ends. */
export async function tryAll(
  trials: readonly Trial[],
  stacks: number,
  tell: (tried: Tried) => void,
): Promise<{ tried: Tried[]; faults: string[] }> {
  const rounds = roundsOf(trials)
  const tried: Tried[] = []
  const faults: string[] = []
  const work = async () => {
    for (let round = rounds.shift(); round; round = rounds.shift()) {
      const left = [...round]
      while (left.length > 0)
        try {
          const fault = await tryOnOneStack(left, (one) => {
            tried.push(one)
            tell(one)
          })
          if (fault) faults.push(`${round[0]!.path.name}: ${fault}`)
        } catch (error) {
          faults.push(`${round[0]!.path.name}: ${(error as Error).message}`)
          left.length = 0 // What did not come up once would not come up for the next one either.
        }
    }
  }
  await Promise.all(Array.from({ length: stacks }, work))
  return { tried, faults }
}

/** The trials of each path, in handfuls for one stack. */
function roundsOf(trials: readonly Trial[]): Trial[][] {
  const ofPath = [...Map.groupBy(trials, ({ path }) => path).values()]
  return ofPath.flatMap((all) => {
    const count = Math.ceil(all.length / trialsMax)
    return Array.from({ length: count }, (_, at) => all.filter((_, own) => own % count === at))
  })
}

/** Takes trials out of `left` until one fails, or all are done and the books close. */
async function tryOnOneStack(
  left: Trial[],
  tell: (tried: Tried) => void,
): Promise<string | undefined> {
  const { path } = left[0]!
  await using world = await openWorld(path.terms)
  const ready = await path.begin(world)
  while (left.length > 0) {
    const trial = left.shift()!
    const outcome = await tryKills(world, ready, trial.kills)
    const fault = outcome.fault && `${outcome.fault}; logs: ${keepLogs(world)}`
    tell({ ...trial, ...outcome, fault })
    // What it left under way would be in the way of the others.
    if (fault) return undefined
  }
  const breaks = await breaksOf(world)
  if (breaks.length === 0) return undefined
  return `the books do not close: ${breaks.join('; ')}; logs: ${keepLogs(world)}`
}

async function breaksOf({ stack }: World): Promise<string[]> {
  let breaks: string[] = []
  const close = async () => {
    const once = { checksMax: 1, betweenMs: 0 }
    breaks = await checkBooks(placeOf(stack.info), stack.adminUrl, once)
    return breaks.length === 0
  }
  await waitUntil('the books closing', close, 60_000, 500).catch(() => {})
  return breaks
}

function keepLogs({ stack }: World): string {
  const dir = mkdtempSync(join(tmpdir(), 'crash-logs-'))
  cpSync(join(stack.dir, 'logs'), dir, { recursive: true })
  return dir
}
