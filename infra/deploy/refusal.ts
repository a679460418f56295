import { domainSeparator } from 'viem'
import { isUsableVersion, usableVersionsText } from '#shared/chain/line-version'
import type { AddressBook } from './addresses'
import type { ChainFacts, DeployFacts, LineFacts, TokenFacts } from './facts'
import type { WantedDeployment } from './wanted'

export function chainRefusals(
  chain: ChainFacts,
  wanted: WantedDeployment,
  book: Pick<AddressBook, 'chainId' | 'genesisHash' | 'creditLine'> | null,
): string[] {
  if (chain.chainId !== wanted.chainId)
    return [`RPC_URLS is on chain ${chain.chainId}, CHAIN_ID is ${wanted.chainId}: correct one of them`]
  if (wanted.genesisHash !== 'unchecked' && wanted.genesisHash !== chain.genesisHash)
    return [
      `block 0 is ${chain.genesisHash}, not GENESIS_HASH: the chain was reset, or RPC_URLS is ` +
        'wrong; if this is the intended chain, set GENESIS_HASH to this hash',
    ]
  if (!book || mayBeginAnew(chain, wanted)) return []
  if (book.chainId !== chain.chainId || book.genesisHash !== chain.genesisHash)
    return [
      'the addresses file belongs to another chain, or this chain was reset: move the file away ' +
        'or set ADDRESSES_FILE to another',
    ]
  const named = wanted.creditLine
  if (named !== 'deploy' && book.creditLine && book.creditLine !== named)
    return [
      `CREDIT_LINE_ADDRESS is ${named}, but the addresses file has ${book.creditLine}: ` +
        'remove the variable or move the file away',
    ]
  return []
}

/** Returns true for a disposable test chain, which loses its state at each start. */
export const mayBeginAnew = (chain: ChainFacts, wanted: WantedDeployment): boolean => chain.isAnvil && wanted.testFunds

export const contractRefusals = ({ token, line }: DeployFacts, wanted: WantedDeployment): string[] => {
  const faults = token ? tokenRefusals(token, wanted) : []
  return faults.length > 0 || !line ? faults : lineRefusals(line, token, wanted)
}

/** EIP-712 domain as read from the chain. Published source code names another domain. */
const rightDomain = { name: 'Agora Dollar', version: '1' } as const

function tokenRefusals({ address, hasCode, domain, separator }: TokenFacts, wanted: WantedDeployment) {
  if (!hasCode) return [`no contract at AUSD_ADDRESS ${address}: correct it, or set it to deploy (stand-in)`]
  if (!domain) return [`AUSD_ADDRESS ${address} has no eip712Domain(): this is not AUSD, correct the address`]
  const right = { ...rightDomain, chainId: BigInt(wanted.chainId), verifyingContract: address }
  const faults = (['name', 'version', 'chainId', 'verifyingContract'] as const)
    .filter((field) => domain[field] !== right[field])
    .map(
      (field) =>
        `the EIP-712 domain of AUSD_ADDRESS ${address} has the ${field} ` +
        `${JSON.stringify(String(domain[field]))}, not ${JSON.stringify(String(right[field]))}: ` +
        'this is not AUSD, correct the address',
    )
  if (faults.length === 0 && separator !== domainSeparator({ domain: right }))
    faults.push(`DOMAIN_SEPARATOR of ${address} does not match its EIP-712 domain: correct AUSD_ADDRESS`)
  return faults
}

function lineRefusals(line: LineFacts, token: TokenFacts | null, wanted: WantedDeployment): string[] {
  const { address } = line
  if (!line.hasCode) return [`no contract at ${address}: correct CREDIT_LINE_ADDRESS, or move the addresses file away`]
  if (!line.token || !line.treasury)
    return [`the contract at ${address} is not a credit line: correct CREDIT_LINE_ADDRESS`]
  // The checks below hold only for versions that we know.
  if (!isUsableVersion(line.version))
    return [
      `credit line ${address} is version ${line.version ?? 'unknown (older than 2)'}, but the ` +
        `services need version ${usableVersionsText}: to deploy a new one, remove CREDIT_LINE_ADDRESS ` +
        'and move the addresses file away; accounts of the old one stay there ' +
        '(see infra/deploy/README.md)',
    ]
  const faults: string[] = []
  if (line.token !== token?.address)
    faults.push(`credit line ${address} uses token ${line.token}: set AUSD_ADDRESS to it`)
  if (line.treasury !== wanted.treasury)
    faults.push(`the treasury of credit line ${address} is ${line.treasury}: set TREASURY_KEY to its key`)
  return faults
}
