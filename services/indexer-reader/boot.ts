import { type Address, encodeFunctionData } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { versionFault } from '#shared/chain/line-version'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type ChainIdentity, identify } from './endpoint.ts'
import { rpcBatch } from './rpc.ts'
import { AnotherChain, RpcFault } from './rpc-fault.ts'

const retryMs = 1_000
const deadlineMs = 4_000

/**
 * Asks every endpoint which chain it is, and which version of the contract is there, until one
 * answers. False: the service ends, because it was told to, or because an endpoint is another chain
 * than the configured one, or the contract another.
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
    const answers = await Promise.allSettled(rpcUrls.map((url) => wrongAt(url, identity)))
    const reason = answers.find((one) => one.status === 'fulfilled' && one.value !== undefined)
    if (reason?.status === 'fulfilled') {
      log.fatal({ reason: reason.value }, 'chain is not the one configured')
      stuck()
      return false
    }
    const away = answers.filter((one) => one.status === 'rejected')
    if (away.length < rpcUrls.length) return true
    log.warn({ reason: away[0]?.reason.message }, 'chain does not answer, asking again')
    await pause(retryMs, signal)
  }
  return false
}

/** Why nothing can be read at this endpoint, if so. Throws `RpcFault` when it does not answer. */
async function wrongAt(url: string, identity: ChainIdentity): Promise<string | undefined> {
  try {
    await identify(url, identity)
  } catch (fault) {
    if (fault instanceof AnotherChain) return `${fault.message}: ${cure}`
    throw fault
  }
  return versionFault(await versionOf(url, identity.contract))
}

/** What `version()` answers; null if the contract has no such function, as the first line had not. */
async function versionOf(url: string, contract: Address): Promise<bigint | null> {
  const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'version' })
  const call = { method: 'eth_call', params: [{ to: contract, data }, 'latest'] }
  try {
    const [word] = (await rpcBatch(url, [call], deadlineMs)) as [string]
    return /^0x[0-9a-f]{64}$/i.test(word) ? BigInt(word) : null
  } catch (fault) {
    if (fault instanceof RpcFault && /revert/i.test(fault.message)) return null
    throw fault
  }
}

const cure =
  'correct RPC_URLS, CHAIN_ID, GENESIS_HASH and CREDIT_LINE_ADDRESS, bun run deploy prints them'
