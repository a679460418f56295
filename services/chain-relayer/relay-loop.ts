import { isRecent } from '#platform/clock'
import { pause } from '#platform/deadline'
import { idle, type Loop, startLoop } from '#platform/loop'
import type { Context } from './context'
import { holdLanes, keepLeases, readLanes } from './lanes/held-lanes'
import { releaseLanes } from './lanes/lane.store'
import { endUndecided } from './operations/undecided'
import { assignWaiting } from './transactions/assign'
import { broadcastDue, renewStuck } from './transactions/broadcast'
import { finalize } from './transactions/finalize'

/** Runs one round. Its steps work only from stored rows, so a round may be interrupted anywhere. */
export async function relayOnce(context: Context): Promise<typeof idle | undefined> {
  /** Runs a step and logs its failure. */
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      context.logThrottled.warn(`step:${name}`, { err: error, step: name }, 'relayer step failed, will retry')
    }
  }
  const known = await readLanes(context)
  const mayWait = known.lanes.length === 0 || known.lanes.some(({ hasWaiting }) => hasWaiting)
  const held = await holdLanes(context, known)
  if (!mayWait && held.every(({ open }) => open.length === 0)) return idle
  await using _kept = keepLeases(context, held)
  if (mayWait) await step('undecided', () => endUndecided(context))
  await step('receipts', () => finalize(context, held))
  // An operation that is stored later starts the next round.
  if (mayWait) await step('assign', () => assignWaiting(context, held))
  await step('broadcast', () => broadcastDue(context, held))
  await step('renew', () => renewStuck(context, held))
  return undefined
}

/**
 * Pause between rounds, in ms. At thirty operations per second, three share a round: that saves statements and RPC
 * calls at a delay of 0.1 s, where finality takes 1 s.
 */
const pauseMinMs = 100
/** Interval of idle rounds, in ms, well below the lane lease that they renew. */
const idleMs = 2_000

export function startRelayLoop(context: Context, pollMs: number): Loop {
  let nextLook: ReturnType<typeof setTimeout> | undefined
  const loop = startLoop({
    name: 'rounds',
    everyMs: pollMs,
    idleMs: Math.max(pollMs, idleMs),
    log: context.log,
    work: async (signal) => {
      const found = await relayOnce(context).catch((error) =>
        context.logThrottled.warn('round', { err: error }, 'relayer round failed, will retry'),
      )
      await pause(pauseMinMs, signal)
      clearTimeout(nextLook)
      // A triggered round reuses the last snapshot, so the next round is due when that expires.
      const { snapshot } = context.memory
      const now = context.clock()
      if (found !== idle && snapshot && isRecent(snapshot.at, now, pollMs))
        nextLook = setTimeout(() => loop.poke(), snapshot.at + pollMs - now)
      return found
    },
  })
  return {
    poke: loop.poke,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      clearTimeout(nextLook)
      await releaseLanes(context.database, context.holder).catch(() => {})
    },
  }
}
