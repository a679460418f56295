import { type Address, encodeFunctionData } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import { versionFault } from '#shared/chain/line-version'
import { systemClock } from '#shared/clock'
import { pause } from '#shared/deadline'
import { type Log, openLogThrottled } from '#shared/log'
import { type Rpc, RpcFault, rpcBatch } from './rpc'

/** `genesisHash` may be `unchecked`: then the first endpoint asked decides. */
export type ChainIdentity = { chainId: number; genesisHash: string; contract: Address }

/** The endpoint answers, and it is not the chain we read: nothing it says is used. */
class AnotherChain extends RpcFault {
  override name = 'AnotherChain'
  constructor(what: string) {
    super('broken', `the endpoint is another chain: ${what}`)
  }
}

const deadlineMs = 4_000

/** Asks one endpoint for its genesis hash; throws `AnotherChain`, or `RpcFault` if it is away. */
export async function identify(rpc: Rpc, identity: ChainIdentity): Promise<string> {
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['0x0', false] },
    { method: 'eth_getCode', params: [identity.contract, 'latest'] },
  ]
  const [chainId, genesis, code] = (await rpcBatch(rpc, calls, deadlineMs)) as [
    string,
    { hash?: string } | null,
    string,
  ]
  if (Number(chainId) !== identity.chainId) {
    throw new AnotherChain(`its id is ${Number(chainId)}, not ${identity.chainId}`)
  }
  if (!genesis?.hash) throw new RpcFault('broken', 'the endpoint has no block 0')
  if (identity.genesisHash !== 'unchecked' && genesis.hash !== identity.genesisHash) {
    throw new AnotherChain(`its block 0 is ${genesis.hash}, not ${identity.genesisHash}`)
  }
  if (code === '0x') throw new AnotherChain(`there is no contract at ${identity.contract}`)
  return genesis.hash
}

const retryMs = 1_000
/** That it does not answer is said so often. */
const sayEveryMs = 60_000

/**
 * Asks every endpoint which chain it is, and which version of the contract is there, until one
 * answers. False: the service ends, because it was told to, or because an endpoint is another chain
 * than the configured one, or the contract another.
 */
export async function awaitChain(
  endpoints: RpcEndpoints,
  identity: ChainIdentity,
  { log, signal, fatal }: { log: Log; signal: AbortSignal; fatal: () => void },
): Promise<boolean> {
  const warn = openLogThrottled(log, systemClock, sayEveryMs)
  while (!signal.aborted) {
    const answers = await Promise.allSettled(
      endpoints.all.map((endpoint) => whyUnreadable({ endpoint, endpoints }, identity)),
    )
    const reason = answers.find((one) => one.status === 'fulfilled' && one.value !== undefined)
    if (reason?.status === 'fulfilled') {
      log.fatal({ reason: reason.value }, 'chain does not match the configuration')
      fatal()
      return false
    }
    const away = answers.filter((one) => one.status === 'rejected')
    if (away.length < answers.length) return true
    warn('chain', { reason: away[0]?.reason.message }, 'chain not responding, will retry')
    await pause(retryMs, signal)
  }
  return false
}

const advice =
  'correct RPC_URLS, CHAIN_ID, GENESIS_HASH and CREDIT_LINE_ADDRESS, bun run deploy prints them'

/** Why nothing can be read at this endpoint, if so. Throws `RpcFault` when it does not answer. */
async function whyUnreadable(rpc: Rpc, identity: ChainIdentity): Promise<string | undefined> {
  try {
    await identify(rpc, identity)
  } catch (fault) {
    if (fault instanceof AnotherChain) return `${fault.message}: ${advice}`
    throw fault
  }
  return versionFault(await versionOf(rpc, identity.contract))
}

/** What `version()` answers; null if the contract has no such function. */
async function versionOf(rpc: Rpc, contract: Address): Promise<bigint | null> {
  const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'version' })
  const call = { method: 'eth_call', params: [{ to: contract, data }, 'latest'] }
  try {
    const [word] = (await rpcBatch(rpc, [call], deadlineMs)) as [string]
    return /^0x[0-9a-f]{64}$/i.test(word) ? BigInt(word) : null
  } catch (fault) {
    if (fault instanceof RpcFault && /revert/i.test(fault.message)) return null
    throw fault
  }
}
