import type { Hex } from 'viem'
import { logsIn } from '#shared/chain/logs'
import type { Node } from '../../../services/chain-relayer/chain/node'
import { callingChain } from '../world/faults'
import type { Process, World } from '../world/world'
import { askedState, opsOf, revertData } from './calls'
import { baseFeeWei, type Chain } from './chain'
import { ausd, movedLogs, topicOfUse, transferLog } from './logs'

const yes: Hex = `0x${'1'.padStart(64, '0')}`
const no: Hex = `0x${'0'.padStart(64, '0')}`
const nativeWei = 10n ** 24n

export function nodeOf(world: World, chain: Chain, process: Process): Node {
  const ask = <T>(what: string, effect: () => T) => world.leave(process, callingChain, what, effect)
  const { contract } = chain
  const numberOf = (block: bigint | 'latest') => (block === 'latest' ? chain.latest.number : block)

  const call: Node['call'] = ({ to, data, value }, block) =>
    ask('simulates a call', () => {
      const { number, timestamp } = chain.at(numberOf(block))
      const asked = askedState(data)
      if (asked) return { returned: contract.useAt(asked, number) ? yes : no }
      for (const op of opsOf(to, data, value ?? 0n)) {
        const refusal = contract.refusalOf(op, number, timestamp)
        if (refusal === 'EnforcedPause') world.saw('an order waited while the credit line was paused')
        if (refusal) return { reverted: revertData(refusal) }
      }
      return { returned: '0x' as Hex }
    })

  const transfersTo = (topic: Hex, fromBlock: bigint, toBlock: bigint) => {
    const owner = `0x${topic.slice(26)}`
    return contract.used
      .about(owner)
      .filter(({ isCancelled, to }) => !isCancelled && to === owner)
      .filter(({ block }) => block >= fromBlock && block <= toBlock)
      .map((use) => ({ ...transferLog(use), transactionHash: use.txHash }))
  }

  const reader = {
    getBalance: ({ address }: { address: Hex }) => ask('asks for a balance', () => chain.nativeWeiOf(address)),
    getTransactionCount: ({ address, blockNumber }: { address: Hex; blockNumber: bigint }) =>
      ask('counts transactions', () => chain.countAt(address, blockNumber)),
    readContract: (asked: { functionName: string; args?: readonly Hex[]; blockNumber?: bigint }) =>
      ask(`asks for ${asked.functionName}`, () => {
        if (asked.functionName === 'getBlockNumber') return chain.latest.number
        if (asked.functionName === 'getCurrentBlockTimestamp') return chain.latest.timestamp
        if (asked.functionName === 'getEthBalance') return nativeWei
        if (asked.functionName === 'isMsgSenderFrozenCheckEnabled') return false
        if (asked.functionName === 'isAccountFrozen') return false
        if (asked.functionName === 'hasRole') return true
        if (asked.functionName !== 'holdOf') throw new Error(`no ${asked.functionName} here`)
        const block = asked.blockNumber ?? chain.latest.number
        const applied = contract.appliedAt(asked.args![0]!, block)
        return [0n, 0n, 0n, applied ? contract.untilOf(applied, block) : 0n, 1]
      }),
    multicall: ({ contracts, blockNumber }: Multicall) =>
      ask('asks for authorizations', () =>
        contracts.map(({ args: [from, nonce] }) => {
          const use = contract.useAt({ from: from.toLowerCase() as Hex, nonce }, blockNumber)
          return { status: 'success', result: use !== undefined }
        }),
      ),
    request: ({ params: [{ fromBlock, toBlock, topics }] }: Logs) =>
      ask('searches logs', () => {
        const [, from, nonce] = topics
        if (from === null) return transfersTo(nonce!, BigInt(fromBlock), BigInt(toBlock))
        const owner = `0x${from!.slice(26)}`
        return contract.used
          .about(owner)
          .filter((use) => use.from === owner && use.nonce === nonce)
          .filter(({ block }) => block >= BigInt(fromBlock) && block <= BigInt(toBlock))
          .map((use) => ({
            address: ausd,
            topics: [topicOfUse(use), from, nonce],
            transactionHash: use.txHash,
          }))
      }),
    getBlock: ({ blockNumber }: { blockNumber?: bigint } = {}) =>
      ask('reads a block', () => {
        const { hash, mined } = chain.at(blockNumber ?? chain.latest.number)
        const transactions = mined.map(({ signed }) => ({ ...signed, from: signed.lane }))
        return { baseFeePerGas: baseFeeWei, hash, transactions }
      }),
  }

  const receiptOf = (hash: Hex) => {
    const own = chain.receiptOf(hash)
    if (own) return own
    const foreign = contract.used.about(hash).filter(({ isCancelled }) => !isCancelled)
    if (foreign.length === 0) return undefined
    const { block } = foreign[0]!
    const { number: blockNumber, hash: blockHash } = chain.at(block)
    const place = { transactionHash: hash, blockNumber, blockHash, status: 'success' }
    return { ...place, logs: foreign.flatMap(movedLogs) } as never
  }

  return {
    reader: reader as never,
    call,
    finalizedHead: () => ask('reads the finalized block', () => chain.head(chain.finalized)),
    newestHead: () => ask('reads the newest block', () => chain.head(chain.latest)),
    headAt: (number) => ask(`asks for block ${number}`, () => chain.head(chain.at(number))),
    countAt: (address, block) => ask('counts transactions', () => chain.countAt(address, numberOf(block))),
    highestCount: (address, block = chain.latest.number) =>
      ask('counts transactions', () => ({ count: chain.countAt(address, block), isComplete: true })),
    receiptOf: (hash) => ask('asks for a receipt', () => receiptOf(hash)),
    endpointCount: 1,
    logsOf: ({ address, topics }, { from, to }) => logsIn(reader as never, { address, topics }, { from, to }),
    sendRaw: (raw) => ask('sends a transaction', () => chain.send(raw)).catch((error: Error) => error.message),
  }
}

type Multicall = {
  readonly contracts: readonly { readonly args: readonly [Hex, Hex] }[]
  readonly blockNumber: bigint
}
type Logs = {
  readonly params: readonly [
    { readonly fromBlock: Hex; readonly toBlock: Hex; readonly topics: readonly (Hex | null)[] },
  ]
}
