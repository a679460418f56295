import { LRUCache } from 'lru-cache'
import {
  encodeEventTopics,
  getAbiItem,
  type Hex,
  hashTypedData,
  type Log,
  pad,
  parseEventLogs,
  type RpcLog,
  recoverAddress,
  slice,
} from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { blocksIn } from '#shared/chain/blocks'
import { encoderOf } from '#shared/chain/encoder'
import { type AuthorizationTerms, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'
import { canonical, type GivenAuthorization, withTokenV } from '#shared/chain/given-authorization'
import { type BlockSpan, isRefusal, readInHalves } from '#shared/chain/halves'
import type { ContractSignature } from './contract-signature'
import type { ChainReceipt, Head, Node } from './node'

export type Contracts = {
  readonly ausd: Hex
  readonly creditLine: Hex
  readonly domain: TokenDomain
}

export const transferDigest = (domain: TokenDomain, terms: AuthorizationTerms): Hex =>
  hashTypedData(typedTransfer(domain, terms))

/** Half the order of secp256k1. A signature with a larger s has a second form with a smaller one (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Cache of signature checks, because an authorization is checked on arrival and again before sending. */
const foundByKey = new LRUCache<string, boolean>({ max: 10_000 })

/**
 * Verifies the signature of a key: 65 bytes with low s and v 27 or 28, as OpenZeppelin's ECDSA accepts, or one of the
 * forms that `withTokenV` turns into these. A check takes 1 ms.
 */
async function signedByKey(domain: TokenDomain, signed: GivenAuthorization): Promise<boolean> {
  const { from } = signed
  const signature = withTokenV(signed.signature as Hex)
  if (!/^0x[0-9a-f]{128}(1b|1c)$/i.test(signature)) return false
  if (BigInt(`0x${signature.slice(66, 130)}`) > halfOrder) return false
  const words = [domain.chainId, domain.verifyingContract, ...Object.values(canonical(signed))]
  const asked = words.join(':')
  const known = foundByKey.get(asked)
  if (known !== undefined) return known
  const found = await recoversTo(from, transferDigest(domain, signed), signature)
  foundByKey.set(asked, found)
  return found
}

async function recoversTo(signer: string, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === signer.toLowerCase()
  } catch {
    return false
  }
}

/**
 * Returns true if the token asks the contract at the signer's address. The answer of that contract may change at any
 * time, even between a simulation and a transaction.
 */
export const needsContract = async ({ domain }: Contracts, signed: GivenAuthorization): Promise<boolean> =>
  !(await signedByKey(domain, signed))

/** Verifies a signature as the token does: by the key first, then by the contract (`accepts`). */
export async function isSignedByOwner(
  domain: TokenDomain,
  signed: GivenAuthorization,
  accepts: (asked: ContractSignature) => Promise<boolean>,
): Promise<boolean> {
  if (await signedByKey(domain, signed)) return true
  const digest = transferDigest(domain, signed)
  const { from: signer, signature } = signed as { from: Hex; signature: Hex }
  return accepts({ signer, digest, signature })
}

type Chain = { readonly node: Node; readonly contracts: Contracts }

export type PlaceOnChain = {
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** How an authorization ended: `used` means that it moved exactly its own amount. */
export type Use = { used: PlaceOnChain } | 'cancelled' | 'used_elsewhere' | 'unknown'

/** Blocks per log query: Monad's public endpoints serve no more. */
export const chunkBlocks = 100n
/** Most chunks of a search, which cover nine days: longer than a take is returned outside the limits. */
export const chunksMax = Number(blocksIn(9 * 24) / chunkBlocks)

const encodeToken = encoderOf(ausdAbi)

export async function isAuthorizationUsed(
  { node, contracts }: Chain,
  terms: Pick<AuthorizationTerms, 'from' | 'nonce'>,
  head: Head,
): Promise<boolean> {
  const data = encodeToken('authorizationState', [terms.from as Hex, terms.nonce as Hex])
  const answer = await node.call({ to: contracts.ausd, data, gas: 100_000n }, head.number)
  if ('reverted' in answer) throw new Error('authorizationState reverted')
  return BigInt(answer.returned) === 1n
}

/** State of a search for the use of an authorization, which goes backwards from a finalized block. */
export type LookUp = {
  readonly terms: AuthorizationTerms
  /** Unix seconds before which the authorization cannot have been used. */
  readonly since: bigint
  /** Final block at which the authorization is used. */
  readonly head: bigint
  /** Newest block not read yet. */
  to: bigint
  chunks: number
  /** Index of the endpoint that is asked first. */
  endpoint: number
  answer?: Use
  /** Error of the last step, after which the search resumes where it stopped. */
  fault?: unknown
}

export async function lookFurther(chain: Chain, lookUp: LookUp): Promise<void> {
  const { terms, since, to, endpoint } = lookUp
  const from = to >= chunkBlocks ? to - chunkBlocks + 1n : 0n
  const log = await findLog(chain, terms, { from, to }, endpoint)
  if (log) {
    lookUp.answer = log.topics[0] === cancelledTopic ? 'cancelled' : await judge(chain, terms, log)
    return
  }
  const isLast = from === 0n || (await chain.node.headAt(from)).timestamp < since
  lookUp.chunks++
  lookUp.to = from - 1n
  if (!isLast && lookUp.chunks < chunksMax) return
  // The use has a log, so that an endpoint without it omits it.
  if (endpoint + 1 < chain.node.endpointCount)
    Object.assign(lookUp, { to: lookUp.head, chunks: 0, endpoint: endpoint + 1 })
  else lookUp.answer = 'unknown'
}

const [usedTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationUsed' })
const [cancelledTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationCanceled' })

async function findLog(chain: Chain, { from, nonce }: AuthorizationTerms, blocks: BlockSpan, endpoint: number) {
  const topics = [[usedTopic!, cancelledTopic!], pad(from as Hex), nonce as Hex]
  return (await readLogs(chain, topics, blocks, { endpoint }))[0]
}

const readLogs = (
  { node, contracts }: Chain,
  topics: (Hex | Hex[] | null)[],
  blocks: BlockSpan,
  { endpoint = 0, readOne }: { endpoint?: number; readOne?: (block: bigint) => Promise<RpcLog[]> } = {},
): Promise<RpcLog[]> =>
  readInHalves<RpcLog>(blocks, {
    mayHalve: isRefusal,
    ...(readOne && { readOne }),
    read: (span) => node.logsOf({ address: contracts.ausd, topics }, span, endpoint),
  })

async function judge(chain: Chain, terms: AuthorizationTerms, log: RpcLog): Promise<Use> {
  if (!log.transactionHash) return 'unknown'
  const place = await placeOfMove(chain, terms, log.transactionHash)
  if (place === 'unknown') return place
  return place ? { used: place } : 'used_elsewhere'
}

/** Returns where the transaction moved the authorized amount, or undefined if it did not move exactly that. */
export async function placeOfMove(
  chain: Chain,
  terms: AuthorizationTerms,
  txHash: Hex,
): Promise<PlaceOnChain | 'unknown' | undefined> {
  const moves = await movesOf(chain, txHash)
  if (moves === 'unknown') return moves
  // guard: the use of an authorization is matched to the transfer logged right after it
  return moves.has(terms) ? moves.place : undefined
}

/**
 * Reads which authorized transfers a transaction made. Returns `unknown` if the receipt or the token's logs are
 * missing, or if its block has changed.
 */
export async function movesOf(
  { node, contracts }: Chain,
  txHash: Hex,
): Promise<{ place: PlaceOnChain; has: ReturnType<typeof movesIn> } | 'unknown'> {
  // A log names the transaction, so that an endpoint without the receipt or its logs lacks them.
  const hasLogs = ({ logs }: ChainReceipt) => logs.some((log) => same(log.address, contracts.ausd))
  const receipt = await node.receiptOf(txHash, async (found) => hasLogs(found))
  if (!receipt || !hasLogs(receipt)) return 'unknown'
  const { blockNumber, blockHash } = receipt
  const { hash } = await node.headAt(blockNumber)
  if (hash !== blockHash) return 'unknown'
  const place = { txHash, blockNumber, blockHash }
  return { place, has: movesIn(receipt.logs, contracts.ausd) }
}

export type TransferName = { readonly txHash: Hex; readonly logIndex: number }

export const nameOf = ({ txHash, logIndex }: TransferName): string => `${txHash}:${logIndex}`

export type PossibleMove = { readonly from: Hex; readonly txHash: Hex }

const [transferTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'Transfer' })

/**
 * Returns transactions that moved AUSD to an address; the caller verifies each. Anyone can emit transfers of zero in
 * any wallet's name, so these are left out. If a single block has too many logs, the authorizations used in it are read
 * instead, each of which needs its owner's signature.
 */
export async function findMoves(chain: Chain, to: Hex, blocks: BlockSpan): Promise<PossibleMove[]> {
  const usedIn = (block: bigint) => readLogs(chain, [usedTopic!], { from: block, to: block })
  const logs = await readLogs(chain, [transferTopic!, null, pad(to.toLowerCase() as Hex)], blocks, { readOne: usedIn })
  return logs
    .filter(({ topics, data }) => topics[0] === usedTopic || BigInt(data) > 0n)
    .map(({ topics, transactionHash }) => ({
      from: slice(topics[1]!, 12),
      txHash: transactionHash!,
    }))
}

export const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

const wordOf = ({ from, nonce, to, value }: Omit<AuthorizationTerms, 'validAfter' | 'validBefore'>) =>
  `${from}:${nonce}:${to}:${BigInt(value)}`.toLowerCase()

/** Events of a signed transfer. `parseEventLogs` hashes the whole ABI that it gets, once per call. */
export const transferEvents = [
  getAbiItem({ abi: ausdAbi, name: 'AuthorizationUsed' }),
  getAbiItem({ abi: ausdAbi, name: 'Transfer' }),
] as const

/**
 * Returns a test for the transfers that these logs prove. The token emits `AuthorizationUsed` and then its `Transfer`.
 * Only the very next log counts; otherwise one transfer could match two authorizations.
 */
export function movesIn(logs: readonly Log[], token: Hex): (terms: AuthorizationTerms) => boolean {
  const own = logs.filter((log) => same(log.address, token))
  const events = parseEventLogs({ abi: transferEvents, logs: [...own] })
  const moved = events.flatMap((event, position) => {
    const next = events[position + 1]
    if (event.eventName !== 'AuthorizationUsed' || next?.eventName !== 'Transfer') return []
    if (Number(next.logIndex) !== Number(event.logIndex) + 1) return []
    const { authorizer, nonce } = event.args
    const { from, to, value } = next.args
    return same(authorizer, from) ? [wordOf({ from, nonce, to, value: String(value) })] : []
  })
  const words = new Set(moved)
  return (terms) => words.has(wordOf(terms))
}
