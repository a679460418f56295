import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  type Hex,
  hashDomain,
  keccak256,
  stringToHex,
} from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { TokenDomain } from '#shared/chain/erc3009'
import { versionFault } from '#shared/chain/line-version'
import { systemClock } from '#shared/clock'
import { pause } from '#shared/deadline'
import { type Log, openLogThrottled } from '#shared/log'
import { textOf } from './errors'
import type { Node } from './node'

export type Expected = {
  chainId: number
  /** `unchecked` skips the comparison. */
  genesisHash: string
  ausd: Hex
  creditLine: Hex
  treasury: { readonly address: Hex }
  lanes: readonly { readonly address: Hex }[]
}

/** The chain answers, but it is not the one this service is configured for. */
export class Unfit extends Error {
  override name = 'Unfit'
}

/**
 * Compares the chain with the configuration before anything is signed, and answers the token's own
 * EIP-712 domain. Throws `Unfit`, naming every fault and its cure.
 */
export async function inspectChain(node: Node, expected: Expected): Promise<TokenDomain> {
  const chainId = await node.reader.getChainId()
  if (chainId !== expected.chainId)
    throw new Unfit(
      `RPC_URLS leads to chain ${chainId}, CHAIN_ID is ${expected.chainId}: correct one of them`,
    )
  const genesis = await node.headAt(0n)
  if (expected.genesisHash !== 'unchecked' && expected.genesisHash !== genesis.hash)
    throw new Unfit(
      `block 0 is ${genesis.hash}, GENESIS_HASH another: the chain began anew, deploy and set it`,
    )
  await requireCode(node, expected)
  const { domain, faults } = await inspectToken(node, expected).catch(
    unlike(`the contract at AUSD_ADDRESS ${expected.ausd} does not answer as AUSD: correct it`),
  )
  const lineFaults = await inspectLine(node, expected).catch(
    unlike(
      `the contract at CREDIT_LINE_ADDRESS ${expected.creditLine} does not answer as a credit ` +
        'line: correct it, or bun run deploy',
    ),
  )
  faults.push(...lineFaults)
  if (faults.length > 0) throw new Unfit(`the chain is not ready\n  ${faults.join('\n  ')}`)
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
      throw new Unfit(`no contract at ${name} ${address}: deploy it first (bun run deploy)`)
  }
}

/** A contract that lacks a function will lack it tomorrow; a silent endpoint may answer again. */
const isForeign = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (one) =>
      one instanceof ContractFunctionRevertedError || one instanceof ContractFunctionZeroDataError,
  ) !== null

const unlike = (words: string) => (error: unknown) => {
  throw isForeign(error) ? new Unfit(words) : error
}

/** Of the token everybody signs for; its ERC-20 name is another. */
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
  if (!right)
    faults.push(
      `AUSD_ADDRESS has another EIP-712 domain (${name}, version ${version}): is it AUSD?`,
    )
  if (separatorOf(domain) !== separator)
    faults.push('DOMAIN_SEPARATOR of AUSD does not follow from its eip712Domain(): is it AUSD?')
  if (allowance === 0n)
    faults.push(
      `treasury ${expected.treasury.address} has not approved the credit line: approve(${expected.creditLine}) on AUSD, as bun run deploy does`,
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
  const [treasury, token, version] = await Promise.all([
    node.reader.readContract({ ...line, functionName: 'treasury' }),
    node.reader.readContract({ ...line, functionName: 'token' }),
    node.reader.readContract({ ...line, functionName: 'version' }).catch((error) => {
      if (isForeign(error)) return null
      throw error
    }),
  ])
  // What follows is of the version we speak: another one is told of that alone.
  const fault = versionFault(version)
  if (fault) throw new Unfit(fault)
  if (treasury !== expected.treasury.address)
    faults.push(`the credit line's treasury is ${treasury}: set TREASURY_KEY to its key`)
  if (token.toLowerCase() !== expected.ausd.toLowerCase())
    faults.push(`the credit line works with the token ${token}: set AUSD_ADDRESS to it`)
  for (const { address } of expected.lanes)
    for (const role of ['RELAYER_ROLE', 'VERIFIER_ROLE']) {
      const args = [keccak256(stringToHex(role)), address] as const
      if (!(await node.reader.readContract({ ...line, functionName: 'hasRole', args })))
        faults.push(
          `lane ${address} has no ${role}: grantRole on the credit line, by its admin (bun run deploy)`,
        )
    }
  return faults
}

const retryMs = 1_000
/** That it does not answer is said so often. */
const sayEveryMs = 60_000

/**
 * Asks until the chain answers: an endpoint that is down is no reason to end and begin again.
 * Undefined: the service ends, because it was told to or because the chain is the wrong one.
 */
export async function awaitChain(
  node: Node,
  expected: Expected,
  { log, signal, fatal }: { log: Log; signal: AbortSignal; fatal: () => void },
): Promise<TokenDomain | undefined> {
  const warn = openLogThrottled(log, systemClock, sayEveryMs)
  while (!signal.aborted) {
    try {
      return await inspectChain(node, expected)
    } catch (error) {
      if (error instanceof Unfit) {
        log.fatal({ reason: error.message }, 'chain does not match the configuration')
        fatal()
        return undefined
      }
      warn('chain', { reason: textOf(error) }, 'chain not responding, will retry')
      await pause(retryMs, signal)
    }
  }
  return undefined
}
