import { createTestClient, http } from 'viem'
import { localChainId } from '#infra/local/chain'
import { chainOf } from '#shared/chain/client'
import { pause } from '#shared/deadline'

/** Monad's pace, while there is something to put into blocks. */
const quickMs = 300
/** After the last transaction: long enough for its finality, and for whoever acts upon that. */
const quickForMs = 15_000
/** While nothing happens. anvil takes whole seconds. */
const restSeconds = 3

/**
 * Lets the local chain rest while nobody uses it: a block every 3 s, and every 0.3 s from a transaction
 * until a while after it. anvil keeps every block in memory and makes the next one the more slowly the
 * more there are (9 ms a block after 2,000, 33 ms after 20,000 beside a stack; 1.7.1): a day of blocks
 * every 0.3 s would be 288,000. A day at rest, 28,800, takes 270 MB and 12 ms a block at its end
 * (measured). Should this end, the chain goes on at the pace of its rest.
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
        // Whoever watches over the chain says that it is gone.
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
