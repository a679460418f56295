import { pause } from '#shared/deadline'
import { type Loop, startLoop } from '#shared/loop'
import type { Context } from './context'
import { releaseLanes } from './lanes/lane.store'
import { holdLanes, withOpen } from './lanes/lease'
import { assignWaiting } from './transactions/assign'
import { broadcastDue, concludeFinal, renewStuck } from './transactions/finalize'

/**
 * One round: hold the lanes, conclude what became final, give nonces to what waits, send what is
 * due, renew what no block takes. Every step works from the stored rows alone, so a round may end
 * anywhere.
 */
export async function round(context: Context): Promise<void> {
  const step = async (name: string, work: () => Promise<unknown>) => {
    await work().catch((error) => {
      context.logThrottled(`step:${name}`, { err: error, step: name }, 'step failed, comes again')
    })
  }
  let held = await holdLanes(context)
  await step('receipts', () => concludeFinal(context, held))
  held = await withOpen(context, held)
  await step('assign', () => assignWaiting(context, held))
  held = await withOpen(context, held)
  await step('broadcast', () => broadcastDue(context, held))
  await step('renew', () => renewStuck(context, held))
}

/** However often the rounds are poked, the endpoints get this long between two of them. */
const pauseMinMs = 30

/** Rounds without end, and one at once when poked; disposing lets the last one finish. */
export function startRounds(context: Context, pollMs: number): Loop {
  const loop = startLoop({
    name: 'rounds',
    everyMs: pollMs,
    log: context.log,
    work: async (signal) => {
      await round(context).catch((error) =>
        context.logThrottled('round', { err: error }, 'round failed, comes again'),
      )
      await pause(pauseMinMs, signal)
    },
  })
  return {
    poke: loop.poke,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await releaseLanes(context.database, context.holder).catch(() => {})
    },
  }
}
