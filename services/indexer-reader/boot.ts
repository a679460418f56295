import type { Address } from 'viem'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type ChainIdentity, identify } from './endpoint.ts'
import { AnotherChain } from './rpc-fault.ts'

const retryMs = 1_000

/**
 * Asks every endpoint which chain it is until one answers. False: the service ends, because it was
 * told to, or because an endpoint is another chain than the configured one.
 */
export async function awaitChain(
  {
    rpcUrls,
    ...config
  }: {
    readonly rpcUrls: readonly string[]
    readonly chainId: number
    readonly genesisHash: string
    readonly creditLineAddress: Address
  },
  { log, signal, stuck }: { log: Log; signal: AbortSignal; stuck: () => void },
): Promise<boolean> {
  const { chainId, genesisHash, creditLineAddress: contract } = config
  const identity: ChainIdentity = { chainId, genesisHash, contract }
  while (!signal.aborted) {
    const answers = await Promise.allSettled(rpcUrls.map((url) => identify(url, identity)))
    const faults = answers.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Error] : [],
    )
    const wrong = faults.find((fault) => fault instanceof AnotherChain)
    if (wrong) {
      log.fatal({ reason: `${wrong.message}: ${cure}` }, 'chain is not the one configured')
      stuck()
      return false
    }
    if (faults.length < rpcUrls.length) return true
    log.warn({ reason: faults[0]?.message }, 'chain does not answer, asking again')
    await pause(retryMs, signal)
  }
  return false
}

const cure =
  'correct RPC_URLS, CHAIN_ID, GENESIS_HASH and CREDIT_LINE_ADDRESS, bun run deploy prints them'
