import { pause } from '#shared/deadline'
import { assignWaiting } from './assign'
import { broadcastDue } from './broadcast'
import { releaseLanes } from './lane.store'
import { holdLanes, reread } from './lanes'
import { readReceipts } from './receipts'
import { complain, type HeldLane, type Relayer } from './relayer'
import { renewStuck } from './renew'

/**
 * One round: hold the lanes, see what became final, give nonces to what waits, send what is due,
 * renew what is stuck. Every step works from the stored rows alone, so a round may end anywhere.
 */
export async function round(relayer: Relayer): Promise<void> {
  const step = async (name: string, work: () => Promise<unknown>) => {
    await work().catch((error) => {
      complain(relayer, `step:${name}`, { err: error, step: name }, 'step failed, comes again')
    })
  }
  let held: HeldLane[] = await holdLanes(relayer)
  await step('receipts', () => readReceipts(relayer, held))
  held = await reread(relayer, held)
  await step('assign', () => assignWaiting(relayer, held))
  held = await reread(relayer, held)
  await step('broadcast', () => broadcastDue(relayer, held))
  await step('renew', () => renewStuck(relayer, held))
}

/** However often somebody pokes, the endpoints are not asked without a breath between. */
const breathMs = 30

/** Rounds without end, and one at once when somebody pokes; disposing lets the last one finish. */
export function startRounds(
  relayer: Relayer,
  pollMs: number,
): AsyncDisposable & { wake: () => void } {
  const stop = new AbortController()
  let nap = new AbortController()
  let poked = false
  const loop = async () => {
    while (!stop.signal.aborted) {
      nap = new AbortController()
      poked = false
      await round(relayer).catch((error) =>
        complain(relayer, 'round', { err: error }, 'round failed, comes again'),
      )
      await pause(breathMs, stop.signal)
      if (!poked) await pause(pollMs, AbortSignal.any([stop.signal, nap.signal]))
    }
    await releaseLanes(relayer.database, relayer.holder).catch(() => {})
  }
  const ended = loop()
  return {
    wake: () => {
      poked = true
      nap.abort()
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
