import { createTestClient, http } from 'viem'
import { localChainId } from '#infra/local/chain'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'

/** Block interval while there are transactions: Monad's. */
const quickMs = 300
/**
 * Time at the quick interval after the last transaction: enough for finality and reactions to it.
 */
const quickForMs = 15_000
/** Block interval while idle; anvil takes whole seconds. */
const restSeconds = 3

/**
 * Slows the local chain down while it is idle: a block every 3 s, and every 0.3 s while there are
 * transactions and shortly after. anvil keeps every block in memory and slows down as they
 * accumulate (9 ms a block after 2,000, 33 ms after 20,000, next to a stack; 1.7.1): a day of
 * blocks every 0.3 s would be 288,000. An idle day is 28,800 blocks and takes 270 MB and 12 ms a
 * block at its end (measured). If this process dies, the chain keeps mining at the idle interval.
 */
export async function startPacing(
  rpcUrl: string,
  { quietAfterMs = quickForMs } = {},
): Promise<AsyncDisposable> {
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
