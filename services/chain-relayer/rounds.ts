import { pause } from '#shared/deadline'
import { idle, type Loop, startLoop } from '#shared/loop'
import { isRecent } from './chain/look'
import type { Context } from './context'
import { releaseLanes } from './lanes/lane.store'
import { holdLanes, withOpen } from './lanes/lease'
import { isAnyWaiting } from './operations/operation.store'
import { assignWaiting } from './transactions/assign'
import { broadcastDue, renewStuck } from './transactions/broadcast'
import { concludeFinal } from './transactions/conclude'

/**
 * One round: hold the lanes, conclude what became final, give nonces to what waits, send what is
 * due, renew what no block takes. Every step works from the stored rows alone, so a round may end
 * anywhere. Answers `idle` when nothing waits and nothing is on its way.
 */
export async function round(context: Context): Promise<typeof idle | undefined> {
  /** Answers whether what is open may be other than before: `work` says of how many it changed that. */
  const step = async (name: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      return (await work()) !== 0
    } catch (error) {
      context.logThrottled(`step:${name}`, { err: error, step: name }, 'relayer step failed, will retry')
      return true
    }
  }
  let held = await holdLanes(context)
  const isQuiet = held.every(({ open }) => open.length === 0)
  if (isQuiet && !(await context.database.read(isAnyWaiting))) return idle
  if (await step('receipts', () => concludeFinal(context, held)))
    held = await withOpen(context, held)
  if (await step('assign', () => assignWaiting(context, held))) held = await withOpen(context, held)
  await step('broadcast', () => broadcastDue(context, held))
  await step('renew', () => renewStuck(context, held))
  return undefined
}

/**
 * However often the rounds are poked, this long lies between two of them. Who comes alone is sent at
 * once; of thirty a second three go together, which takes fewer statements and calls for each, and
 * up to a tenth of a second longer, where being final takes one.
 */
const pauseMinMs = 100
/** With nothing to do; new orders poke. Well below the lease of a lane, which rounds renew. */
const idleMs = 2_000

/** Rounds without end, and one at once when poked; disposing lets the last one finish. */
export function startRounds(context: Context, pollMs: number): Loop {
  let nextLook: ReturnType<typeof setTimeout> | undefined
  const loop = startLoop({
    name: 'rounds',
    everyMs: pollMs,
    idleMs: Math.max(pollMs, idleMs),
    log: context.log,
    work: async (signal) => {
      const found = await round(context).catch((error) =>
        context.logThrottled('round', { err: error }, 'relayer round failed, will retry'),
      )
      await pause(pauseMinMs, signal)
      clearTimeout(nextLook)
      // A round that was poked did with what an earlier one saw; what is final since need not wait longer.
      const { look } = context.memory
      const now = context.clock()
      if (found !== idle && look && isRecent(look.at, now, pollMs))
        nextLook = setTimeout(() => loop.poke(), look.at + pollMs - now)
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
