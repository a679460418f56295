import { encodeEventTopics, encodeFunctionData, type Hex, numberToHex, pad } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { giveUp } from './give-up'
import type { Head } from './node'
import type { SignedTransfer } from './operation'
import { type Operation, postponeOperation } from './operation.store'
import { type Place, settle } from './outcome.store'
import { complain, type Relayer } from './relayer'
import { transferTerms } from './signer'
import { movedBy } from './transfer-log'

type Terms = Omit<SignedTransfer, 'signature'>
type Use = { used: Place } | 'cancelled' | 'used_elsewhere' | 'unknown'

/** Public endpoints of Monad answer at most 100 blocks of logs per question. */
const chunkBlocks = 100n
/** An authorization was unused when its operation was ordered; clocks may differ a little. */
const marginSeconds = 600n
const chunksMax = 600

/**
 * The token says that this authorization is used, cancelled or expired. Finds out, in finalized
 * blocks alone, which: whoever submitted it, the transfer happened and counts.
 */
export async function lookUp(relayer: Relayer, operation: Operation): Promise<void> {
  const postpone = (ms: number) =>
    relayer.database.read((db) => postponeOperation(db, operation.id, ms, 0))
  const terms = transferTerms(relayer, operation)
  if (!terms) return void (await postpone(5_000))
  const head = await relayer.node.finalizedHead()
  if (!(await stateAt(relayer, terms, head))) {
    if (operation.kind !== 'return' && head.timestamp >= BigInt(terms.validBefore))
      return giveUp(relayer, operation, 'authorization_expired', false)
    return void (await postpone(500))
  }
  const use = await findUse(relayer, terms, head, operation.createdAt)
  if (use === 'cancelled') return giveUp(relayer, operation, 'authorization_cancelled', false)
  if (use === 'used_elsewhere')
    return giveUp(relayer, operation, 'authorization_used_elsewhere', true)
  if (use === 'unknown') {
    const fields = { operationId: operation.id, alarm: true }
    complain(relayer, `use:${operation.id}`, fields, 'use of an authorization was not found')
    return void (await postpone(5_000))
  }
  await relayer.database.transaction((tx) => settle(tx, operation, use.used))
  relayer.log.info({ operationId: operation.id, txHash: use.used.txHash }, 'done by another hand')
  relayer.poke()
}

/** `authorizationState` at that very block: used or cancelled. */
async function stateAt({ node, contracts }: Relayer, terms: Terms, head: Head): Promise<boolean> {
  const data = encodeFunctionData({
    abi: ausdAbi,
    functionName: 'authorizationState',
    args: [terms.from as Hex, terms.nonce as Hex],
  })
  const answer = await node.call({ to: contracts.ausd, data, gas: 100_000n }, head.number)
  if ('reverted' in answer) throw new Error('authorizationState cannot be read')
  return BigInt(answer.returned) === 1n
}

/** What became of an authorization that the token calls used, up to the finalized `head`. */
export async function findUse(
  relayer: Relayer,
  terms: Terms,
  head: Head,
  orderedAt: Date,
): Promise<Use> {
  const since = BigInt(Math.floor(orderedAt.getTime() / 1_000)) - marginSeconds
  let to = head.number
  for (let chunk = 0; chunk < chunksMax; chunk++) {
    const from = to >= chunkBlocks ? to - chunkBlocks + 1n : 0n
    const log = await useWithin(relayer, terms, from, to)
    if (log) return log.topics[0] === cancelledTopic ? 'cancelled' : judge(relayer, terms, log)
    if (from === 0n || (await relayer.node.headAt(from)).timestamp < since) return 'unknown'
    to = from - 1n
  }
  return 'unknown'
}

const [usedTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationUsed' })
const [cancelledTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationCanceled' })

async function useWithin({ node, contracts }: Relayer, terms: Terms, from: bigint, to: bigint) {
  const logs = await node.reader.request({
    method: 'eth_getLogs',
    params: [
      {
        address: contracts.ausd,
        fromBlock: numberToHex(from),
        toBlock: numberToHex(to),
        topics: [[usedTopic!, cancelledTopic!], pad(terms.from as Hex), terms.nonce as Hex],
      },
    ],
  })
  return logs[0]
}

type RawLog = NonNullable<Awaited<ReturnType<typeof useWithin>>>

async function judge({ node, contracts }: Relayer, terms: Terms, log: RawLog): Promise<Use> {
  const receipt = log.transactionHash ? await node.receiptOf(log.transactionHash) : undefined
  if (!receipt) return 'unknown'
  const { hash } = await node.headAt(receipt.blockNumber)
  if (hash !== receipt.blockHash) return 'unknown'
  const used = { authorizer: terms.from, nonce: terms.nonce }
  const wanted = { from: terms.from, to: terms.to, value: BigInt(terms.value) }
  if (!movedBy(receipt.logs, contracts.ausd, used, wanted)) return 'used_elsewhere'
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  return { used: { txHash, blockNumber, blockHash } }
}
