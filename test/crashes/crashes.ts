import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import type { Trial } from './plan'
import { type Outcome, tryKills } from './trial'
import { openWorld, type World } from './world'

export type Tried = Trial & Outcome

/** Most trials on one stack: each check reads the whole chain and book, which grow. */
const trialsMax = 50

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
          left.length = 0 // The stack of the next trial would fail to start too.
        }
    }
  }
  await Promise.all(Array.from({ length: stacks }, work))
  return { tried, faults }
}

function roundsOf(trials: readonly Trial[]): Trial[][] {
  const ofPath = [...Map.groupBy(trials, ({ path }) => path).values()]
  return ofPath.flatMap((all) => {
    const count = Math.ceil(all.length / trialsMax)
    return Array.from({ length: count }, (_, at) => all.filter((_, own) => own % count === at))
  })
}

/** Runs trials on one stack until one fails. Returns an error of the books. */
async function tryOnOneStack(left: Trial[], tell: (tried: Tried) => void): Promise<string | undefined> {
  const { path } = left[0]!
  await using world = await openWorld(path.terms)
  const ready = await path.begin(world)
  while (left.length > 0) {
    const trial = left.shift()!
    const outcome = await tryKills(world, ready, trial.kills)
    const fault = outcome.fault && `${outcome.fault}; logs: ${keepLogs(world)}`
    tell({ ...trial, ...outcome, fault })
    // Pending work would disturb the next trials.
    if (fault) return undefined
  }
  const breaks = await breaksOf(world)
  if (breaks.length === 0) return undefined
  return `the books do not balance: ${breaks.join('; ')}; logs: ${keepLogs(world)}`
}

async function breaksOf({ stack }: World): Promise<string[]> {
  let breaks: string[] = []
  const close = async () => {
    const once = { checksMax: 1, betweenMs: 0 }
    breaks = await checkBooks(placeOf(stack.info), stack.adminUrl, once)
    return breaks.length === 0
  }
  await waitUntil('the books to balance', close, 60_000, 500).catch(() => {})
  return breaks
}

function keepLogs({ stack }: World): string {
  const dir = mkdtempSync(join(tmpdir(), 'crash-logs-'))
  cpSync(join(stack.dir, 'logs'), dir, { recursive: true })
  return dir
}
