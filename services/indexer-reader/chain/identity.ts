import { type Address, encodeFunctionData } from 'viem'
import { steadyClock } from '#platform/clock'
import { pause } from '#platform/deadline'
import { type Log, openLogThrottled } from '#platform/log'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import { versionFault } from '#shared/chain/line-version'
import { openRpc, type Rpc, RpcFault, rpcBatch } from './rpc'

/** The configured chain. A genesis hash of `unchecked` accepts the first one reported. */
export type ExpectedChain = { chainId: number; genesisHash: string; contract: Address }

class AnotherChain extends RpcFault {
  override name = 'AnotherChain'
  constructor(what: string) {
    super('broken', `the endpoint is on another chain: ${what}`)
  }
}

const deadlineMs = 4_000

/** Returns the genesis hash. Throws `AnotherChain`, or `RpcFault` if the endpoint is down. */
export async function readIdentity(rpc: Rpc, identity: ExpectedChain): Promise<string> {
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
    throw new AnotherChain(`chain id ${Number(chainId)}, not ${identity.chainId}`)
  }
  if (!genesis?.hash) throw new RpcFault('broken', 'the endpoint has no block 0')
  if (identity.genesisHash !== 'unchecked' && genesis.hash !== identity.genesisHash) {
    throw new AnotherChain(`block 0 is ${genesis.hash}, not ${identity.genesisHash}`)
  }
  if (code === '0x') throw new AnotherChain(`no contract at ${identity.contract}`)
  return genesis.hash
}

const retryMs = 1_000
const sayEveryMs = 60_000

/**
 * Waits until an endpoint responds that matches the configuration. Returns false if the service is stopping or no endpoint
 * matches.
 */
export async function awaitChain(
  endpoints: RpcEndpoints,
  identity: ExpectedChain,
  { log, signal, fatal }: { log: Log; signal: AbortSignal; fatal: () => void },
): Promise<boolean> {
  const throttled = openLogThrottled(log, steadyClock, sayEveryMs)
  while (!signal.aborted) {
    const answers = await Promise.allSettled(
      endpoints.all.map((endpoint) => whyUnreadable(openRpc(endpoints, endpoint), identity)),
    )
    const known = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    // Others that do not match are not used, and raise an alert.
    if (known.includes(undefined)) return true
    if (known.length === answers.length) {
      log.fatal({ reason: known[0] }, 'chain does not match the configuration')
      fatal()
      return false
    }
    const reasons = answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))
    throttled.warn('chain', { reason: reasons.join('; ') }, 'chain not responding, will retry')
    await pause(retryMs, signal)
  }
  return false
}

const advice = 'fix RPC_URLS, CHAIN_ID, GENESIS_HASH or CREDIT_LINE_ADDRESS (bun run deploy prints them)'

async function whyUnreadable(rpc: Rpc, identity: ExpectedChain): Promise<string | undefined> {
  try {
    await readIdentity(rpc, identity)
  } catch (fault) {
    if (fault instanceof AnotherChain) return `${fault.message}: ${advice}`
    throw fault
  }
  return versionFault(await versionOf(rpc, identity.contract))
}

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
