import { domainSeparator } from 'viem'
import { lineVersion } from '#shared/chain/line-version'
import type { AddressBook } from './addresses'
import type { ChainFacts, Facts, LineFacts, TokenFacts } from './facts'
import type { Wanted } from './wanted'

/** Why nothing may be done on this chain, each with its cure; empty: it is the right one. */
export function chainRefusals(
  chain: ChainFacts,
  wanted: Wanted,
  book: Pick<AddressBook, 'chainId' | 'genesisHash' | 'creditLine'> | null,
): string[] {
  if (chain.chainId !== wanted.chainId)
    return [
      `RPC_URLS leads to chain ${chain.chainId}, CHAIN_ID is ${wanted.chainId}: correct one of them`,
    ]
  if (wanted.genesisHash !== 'unchecked' && wanted.genesisHash !== chain.genesisHash)
    return [
      `block 0 is ${chain.genesisHash}, GENESIS_HASH another: the chain began anew, or it is ` +
        'not the one; set GENESIS_HASH to this hash if it is meant',
    ]
  if (!book || mayBeginAnew(chain, wanted)) return []
  if (book.chainId !== chain.chainId || book.genesisHash !== chain.genesisHash)
    return [
      'the addresses file is of another chain, or this one began anew: move the file away or set ' +
        'ADDRESSES_FILE to another',
    ]
  const named = wanted.creditLine
  if (named !== 'deploy' && book.creditLine && book.creditLine !== named)
    return [
      `CREDIT_LINE_ADDRESS is ${named}, the addresses file has ${book.creditLine}: ` +
        'remove the variable or move the file away',
    ]
  return []
}

/** A throw-away chain forgets at every start; a record of its last life is no use. */
export const mayBeginAnew = (chain: ChainFacts, wanted: Wanted): boolean =>
  chain.isAnvil && wanted.testFunds

/** Why the contracts that are there may not be used; empty: they are what they should be. */
export const contractRefusals = ({ token, line }: Facts, wanted: Wanted): string[] => {
  const faults = token ? tokenRefusals(token, wanted) : []
  return faults.length > 0 || !line ? faults : lineRefusals(line, token, wanted)
}

/** The EIP-712 domain of AUSD as the chain tells it; repositories name others. */
const rightDomain = { name: 'Agora Dollar', version: '1' } as const

function tokenRefusals({ address, hasCode, domain, separator }: TokenFacts, wanted: Wanted) {
  if (!hasCode)
    return [`no contract at AUSD_ADDRESS ${address}: correct it, or set it to deploy (stand-in)`]
  if (!domain) return [`AUSD_ADDRESS ${address} has no eip712Domain(): is it AUSD?`]
  const right = { ...rightDomain, chainId: BigInt(wanted.chainId), verifyingContract: address }
  const faults = (['name', 'version', 'chainId', 'verifyingContract'] as const)
    .filter((field) => domain[field] !== right[field])
    .map(
      (field) =>
        `the EIP-712 domain of AUSD_ADDRESS ${address} has the ${field} ` +
        `${JSON.stringify(String(domain[field]))}, not ${JSON.stringify(String(right[field]))}: is it AUSD?`,
    )
  if (faults.length === 0 && separator !== domainSeparator({ domain: right }))
    faults.push(`DOMAIN_SEPARATOR of ${address} does not follow from its domain: is it AUSD?`)
  return faults
}

function lineRefusals(line: LineFacts, token: TokenFacts | null, wanted: Wanted): string[] {
  const { address } = line
  if (!line.hasCode)
    return [`no contract at ${address}: correct CREDIT_LINE_ADDRESS, or move the addresses file`]
  if (!line.token || !line.treasury)
    return [`the contract at ${address} is no credit line: correct CREDIT_LINE_ADDRESS`]
  // What else could be said of it holds for the version we speak alone.
  if (line.version !== lineVersion)
    return [
      `credit line ${address} is version ${line.version ?? 'unknown (older than 2)'}, the services ` +
        `speak ${lineVersion}: to deploy a new one remove CREDIT_LINE_ADDRESS and move the ` +
        'addresses file away; the accounts of the old one stay there (see infra/deploy/README.md)',
    ]
  const faults: string[] = []
  if (line.token !== token?.address)
    faults.push(`credit line ${address} works with token ${line.token}: set AUSD_ADDRESS to it`)
  if (line.treasury !== wanted.treasury)
    faults.push(
      `the treasury of credit line ${address} is ${line.treasury}: set TREASURY_KEY to its key`,
    )
  return faults
}
