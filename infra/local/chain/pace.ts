import { createTestClient, http } from 'viem'
import { localChainId } from '#infra/local/chain'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'

/** Monad's block interval. */
const quickMs = 300
/** Enough for finality after the last transaction, and reactions to it. */
const quickForMs = 15_000
/** anvil takes whole seconds. */
const restSeconds = 3

/**
 * anvil keeps every block in memory and slows down as they accumulate (1.7.1: 9 ms a block after
 * 2,000, 33 ms after 20,000). A day at 0.3 s is 288,000 blocks, an idle day 28,800. If this process
 * dies, the chain stays at the idle interval.
 */
export async function startPacing(rpcUrl: string, { quietAfterMs = quickForMs } = {}): Promise<AsyncDisposable> {
  const client = createTestClient({
    mode: 'anvil',
    chain: chainOf(localChainId),
    transport: http(rpcUrl, { retryCount: 0, timeout: 5_000 }),
  })
  await client.setIntervalMining({ interval: restSeconds })
  const stop = new AbortController()
  const run = async () => {
    let quickUntil = Date.now() + quietAfterMs
    while (!stop.signal.aborted) {
      try {
        const { pending } = await client.getTxpoolStatus()
        if (pending > 0) quickUntil = Date.now() + quietAfterMs
        if (Date.now() < quickUntil) await client.mine({ blocks: 1 })
      } catch {
        // The supervisor reports a dead chain.
      }
      await pause(quickMs, stop.signal)
    }
  }
  const ended = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
