import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, type Hex, hashDomain } from 'viem'
import { steadyClock } from '#platform/clock'
import { pause } from '#platform/deadline'
import type { Deployment } from '#platform/deployment'
import { type Log, openLogThrottled } from '#platform/log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { liveHoldSecondsMin } from '#shared/chain/chain-id'
import { chainOf, multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { TokenDomain } from '#shared/chain/erc3009'
import { AnotherChain, type ChainIdentity } from '#shared/chain/identity'
import { laneRoles, roleHash } from '#shared/chain/lane-roles'
import { versionFault } from '#shared/chain/line-version'
import { errorTextOf } from './errors'
import type { Node } from './node'

export type Expected = {
  deployment: Deployment
  chainId: number
  ausd: Hex
  creditLine: Hex
  treasury: { readonly address: Hex }
  lanes: readonly { readonly address: Hex }[]
}

export const identityOf = (config: {
  readonly chainId: number
  readonly genesisHash: string
  readonly ausdAddress: Hex
  readonly creditLineAddress: Hex
}): ChainIdentity => ({
  chainId: config.chainId,
  genesisHash: config.genesisHash,
  contracts: [config.ausdAddress, config.creditLineAddress, multicall3],
  creditLine: config.creditLineAddress,
})

export class UnfitChain extends Error {
  override name = 'UnfitChain'
}

/** Returns the token's EIP-712 domain. Throws `UnfitChain`, which names every mismatch and its fix. */
export async function inspectChain(node: Node, expected: Expected): Promise<TokenDomain> {
  await requireCode(node, expected)
  const { domain, faults } = await inspectToken(node, expected).catch(
    unlike(`the contract at AUSD_ADDRESS ${expected.ausd} is not AUSD: fix the address`),
  )
  const lineFaults = await inspectLine(node, expected).catch(
    unlike(
      `the contract at CREDIT_LINE_ADDRESS ${expected.creditLine} is not a credit line: ` +
        'fix the address, or run bun run deploy',
    ),
  )
  faults.push(...lineFaults)
  if (faults.length > 0) throw new UnfitChain(`the chain is not ready\n  ${faults.join('\n  ')}`)
  return domain
}

async function requireCode(node: Node, { chainId, ausd, creditLine }: Expected) {
  const { multicall3 } = chainOf(chainId).contracts
  const named = {
    AUSD_ADDRESS: ausd,
    CREDIT_LINE_ADDRESS: creditLine,
    Multicall3: multicall3.address,
  }
  for (const [name, address] of Object.entries(named)) {
    const code = await node.reader.getCode({ address })
    if (!code || code === '0x')
      throw new UnfitChain(`no contract at ${name} ${address}: deploy it first (bun run deploy)`)
  }
}

/** Returns true if the contract lacks the function, as opposed to an endpoint that is down. */
const isForeign = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((one) => one instanceof ContractFunctionRevertedError || one instanceof ContractFunctionZeroDataError) !==
    null

const unlike = (words: string) => (error: unknown) => {
  throw isForeign(error) ? new UnfitChain(words) : error
}

/** EIP-712 name of the token, which differs from its ERC-20 name. */
const domainName = 'Agora Dollar'

async function inspectToken(node: Node, expected: Expected) {
  const token = { address: expected.ausd, abi: ausdAbi } as const
  const [[, name, version, chainId, verifyingContract], separator, allowance] = await Promise.all([
    node.reader.readContract({ ...token, functionName: 'eip712Domain' }),
    node.reader.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
    node.reader.readContract({
      ...token,
      functionName: 'allowance',
      args: [expected.treasury.address, expected.creditLine],
    }),
  ])
  const domain: TokenDomain = { name, version, chainId: Number(chainId), verifyingContract }
  const faults: string[] = []
  const right =
    name === domainName &&
    version === '1' &&
    domain.chainId === expected.chainId &&
    verifyingContract.toLowerCase() === expected.ausd.toLowerCase()
  if (!right) faults.push(`AUSD_ADDRESS has another EIP-712 domain (${name}, version ${version}): check the address`)
  if (separatorOf(domain) !== separator)
    faults.push('DOMAIN_SEPARATOR of AUSD does not match its eip712Domain(): check AUSD_ADDRESS')
  if (allowance === 0n)
    faults.push(
      `treasury ${expected.treasury.address} has not approved the credit line: call approve(${expected.creditLine}) on AUSD, or run bun run deploy`,
    )
  return { domain, faults }
}

const separatorOf = (domain: TokenDomain): Hex =>
  hashDomain({
    domain: { ...domain, chainId: BigInt(domain.chainId) },
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
    },
  })

async function inspectLine(node: Node, expected: Expected): Promise<string[]> {
  const line = { address: expected.creditLine, abi: creditLineAbi } as const
  const faults: string[] = []
  const [treasury, token, holdSeconds, version] = await Promise.all([
    node.reader.readContract({ ...line, functionName: 'treasury' }),
    node.reader.readContract({ ...line, functionName: 'token' }),
    node.reader.readContract({ ...line, functionName: 'holdSeconds' }),
    node.reader.readContract({ ...line, functionName: 'version' }).catch((error) => {
      if (isForeign(error)) return null
      throw error
    }),
  ])
  // The remaining checks depend on the version.
  const fault = versionFault(version)
  if (fault) throw new UnfitChain(fault)
  if (treasury !== expected.treasury.address)
    faults.push(`the credit line's treasury is ${treasury}: set TREASURY_KEY to its key`)
  if (token.toLowerCase() !== expected.ausd.toLowerCase())
    faults.push(`the credit line uses the token ${token}: set AUSD_ADDRESS to it`)
  if (expected.deployment === 'live' && holdSeconds < liveHoldSecondsMin)
    faults.push(
      `the credit line holds card payments for ${holdSeconds} s, with real money at least ${liveHoldSecondsMin} s: ` +
        'deploy another one (HOLD_SECONDS)',
    )
  const missing: { lane: Hex; role: string }[] = []
  for (const { address } of expected.lanes)
    for (const role of laneRoles) {
      const args = [roleHash(role), address] as const
      if (!(await node.reader.readContract({ ...line, functionName: 'hasRole', args })))
        missing.push({ lane: address, role })
    }
  // While one lane has its roles, it sends what the others cannot, and they raise an alert.
  if (new Set(missing.map(({ lane }) => lane)).size === expected.lanes.length)
    for (const { lane, role } of missing)
      faults.push(`lane ${lane} has no ${role}: grantRole on the credit line as its admin (bun run deploy)`)
  return faults
}

const retryMs = 1_000
const sayEveryMs = 60_000

/**
 * Waits until the chain responds and returns the token's domain. Returns undefined if the service is stopping or the
 * chain does not match the configuration.
 */
export async function awaitChain(
  node: Node,
  expected: Expected,
  { log, signal, fatal }: { log: Log; signal: AbortSignal; fatal: () => void },
): Promise<TokenDomain | undefined> {
  const throttled = openLogThrottled(log, steadyClock, sayEveryMs)
  while (!signal.aborted) {
    try {
      return await inspectChain(node, expected)
    } catch (error) {
      const isForeign = error instanceof BaseError && error.walk((one) => one instanceof AnotherChain)
      if (isForeign || error instanceof UnfitChain) {
        log.fatal({ reason: errorTextOf(error) }, 'chain does not match the configuration')
        fatal()
        return undefined
      }
      throttled.warn('chain', { reason: errorTextOf(error) }, 'chain not responding, will retry')
      await pause(retryMs, signal)
    }
  }
  return undefined
}
