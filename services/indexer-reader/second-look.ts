import type { Cursor } from './cursor.store.ts'
import type { Following } from './follower.ts'
import { confirmSpan } from './projection.store.ts'
import { RpcFault } from './rpc-fault.ts'
import { identifyAs } from './same-chain.ts'

/** A node that answered partially at the head has caught up some blocks later. */
const depthBlocks = 20
/** Fewer blocks are not worth a request. */
const blocksMin = 20

/**
 * Reads once more what was read before, if possible from another endpoint: `eth_getLogs` may leave
 * logs out without saying so. Adds what was missing. True if it confirmed a span.
 */
export async function lookAgain(
  parts: Following,
  cursor: Cursor,
  pace: 'leisurely' | 'urgently',
): Promise<boolean> {
  const { database, endpoints, figures, log } = parts
  const endpoint = endpoints.other()
  const from = cursor.confirmedTo + 1
  const to = Math.min(
    cursor.blockNumber - (pace === 'urgently' ? 0 : depthBlocks),
    from + endpoint.range().blocks - 1,
  )
  if (to < from || (pace === 'leisurely' && cursor.blockNumber - from < depthBlocks + blocksMin)) {
    return false
  }
  try {
    await identifyAs(database, cursor, endpoint)
    const span = await endpoint.readSpan(from, to)
    const { missing, unseenAgain, broken } = await confirmSpan(database, cursor.generation, span)
    for (const error of broken) log.error({ err: error }, 'events still do not follow')
    if (missing.length > 0) {
      figures.repaired += missing.length
      log.error({ from, to, missing: missing.length }, 'missing events were found and added')
    }
    if (unseenAgain.length === 0) return true
    figures.disputed += 1
    throw new RpcFault(
      'broken',
      `the endpoint left out ${unseenAgain.length} events it should have`,
    )
  } catch (fault) {
    endpoints.blame(endpoint, fault)
    log.warn(
      { endpoint: endpoint.host, fault: (fault as Error).message, from, to },
      'second look failed',
    )
    return false
  }
}
