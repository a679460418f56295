import type { Stack } from '#infra/local/stack'
import { startPlainServer } from '../load/processes'
import { quantile } from '../quantile'
import { arrive } from './arrivals'
import { watchFinality } from './finality'
import { openHand } from './hand'

const transfers = 20
const transferPaceMs = 317

export async function chainYardstick(stack: Stack): Promise<number> {
  const hand = await openHand(stack)
  using finality = watchFinality(hand)
  const sample = await arrive(transfers, transferPaceMs, async () => {
    const sentAt = performance.now()
    return (await finality.finalAt(await hand.blockOf(await hand.transfer()))) - sentAt
  })
  return quantile(sample, 0.5)
}

/** Returns the median time in ms of a POST to a bare server. */
export async function postYardstick(count: number, everyMs: number): Promise<number> {
  await using server = await startPlainServer()
  const body = JSON.stringify({ event: 'payment.capture', data: 'x'.repeat(1_000) })
  const sample = await arrive(count, everyMs, async () => {
    const startedAt = performance.now()
    await (await fetch(server.url, { method: 'POST', body })).text()
    return performance.now() - startedAt
  })
  return quantile(sample, 0.5)
}
