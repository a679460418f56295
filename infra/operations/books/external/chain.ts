import { type Hex, pad, type RpcLog } from 'viem'
import type { Place } from '#infra/operations/place'
import { finalizedBlock, type LogNode, readAtAny, readLogs } from '#infra/operations/record/chain-log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { BlockSpan } from '#shared/chain/halves'
import type { BooksContext } from '../context'
import { isInto } from '../schema.store'
import { findBalance } from './balance.store'
import { insertMoves, newestMove } from './chain-move.store'
import { advance, findCheckpoint } from './checkpoint.store'
import { type AusdMove, lineTopics, movementsOf, named, transferTopic } from './moves'

const source = 'chain'
/** Ranges of `logsRangeMax` blocks that one transaction commits. */
const rangesKept = 40n
const receiptsAtOnce = 8

/**
 * Reads movements up to the finalized block, and returns that block. Rows and checkpoint are committed together, so a
 * kill or a second instance neither skips nor repeats a movement.
 */
export const readChain = (context: BooksContext): Promise<bigint> =>
  readAtAny(context.place.rpcUrls, (node, isLast) => readAt(node, isLast, context))

async function readAt(node: LogNode, isLast: boolean, { database, place }: BooksContext): Promise<bigint> {
  const head = await finalizedBlock(node)
  await refuseOtherChain(database, node, head)
  for (;;) {
    const recorded = await database.read((db) => findCheckpoint(db, source))
    const read = recorded?.block ?? undefined
    const from = read === undefined ? place.deployBlock : read + 1n
    if (from > head) return read ?? head
    const last = from + rangesKept * place.logsRangeMax - 1n
    const to = last < head ? last : head
    // The block is read before its logs: for a block that a lagging node does not have yet, this call fails, but the
    // logs would come back empty.
    const readTo = await timeOf(node, to)
    const rows = await readMoves(node, place, { from, to })
    if (!isLast) await refuseGap(database, node, place, { from, to, rows })
    await database.transaction(async (tx) => {
      if (await advance(tx, source, read, { block: to, readTo })) await insertMoves(tx, rows)
    })
  }
}

/**
 * Throws if the transfers of some blocks do not lead from the balance before them to the one at their end: the endpoint
 * left out logs. If the last endpoint says the same, a rule of the books reports it.
 */
async function refuseGap(
  database: BooksContext['database'],
  node: LogNode,
  { ausd, treasury }: Place,
  { from, to, rows }: BlockSpan & { rows: readonly AusdMove[] },
): Promise<void> {
  const before = await database.read((db) => findBalance(db, 'treasury'))
  if (before?.block !== from - 1n) return
  const token = { address: ausd, abi: ausdAbi, blockNumber: to } as const
  const after = await node.readContract({ ...token, functionName: 'balanceOf', args: [treasury] })
  const moved = rows.reduce((sum, { kind, ausdMicro }) => sum + (isInto(kind) ? ausdMicro : -ausdMicro), 0n)
  if (before.amount + moved !== after)
    throw new Error(
      `the treasury held ${before.amount} AUSD micro before block ${from} and ${after} at block ${to}, but the node returned transfers of ${moved}`,
    )
}

async function refuseOtherChain(database: BooksContext['database'], node: LogNode, head: bigint): Promise<void> {
  const recorded = await database.read((db) => findCheckpoint(db, source))
  if (!recorded?.block) return
  if (recorded.block > head)
    throw new Error(
      `the books were read up to block ${recorded.block}, but the chain is final only up to ${head}: it was reset, or it is a different chain`,
    )
  const newest = await database.read(newestMove)
  if (!newest) return
  const hash = newest.txHash as Hex
  const receipt = await node.getTransactionReceipt({ hash }).catch((error: Error) => {
    if (error.name === 'TransactionReceiptNotFoundError') return undefined
    throw error
  })
  if (receipt?.blockNumber !== newest.block)
    throw new Error(
      `transaction ${hash} was read in block ${newest.block} but is not there any more: the chain was reset, or it is a different chain`,
    )
}

const timeOf = async (node: LogNode, blockNumber: bigint): Promise<Date> => {
  const { timestamp } = await node.getBlock({ blockNumber })
  return new Date(Number(timestamp) * 1_000)
}

async function readMoves(node: LogNode, place: Place, span: BlockSpan) {
  const { ausd, creditLine, treasury, logsRangeMax } = place
  const read = (address: typeof ausd, topics: (Hex | Hex[] | null)[]) =>
    readLogs(node, { address, topics }, span, logsRangeMax)
  const line = await read(creditLine, [lineTopics])
  const out = await read(ausd, [transferTopic, pad(treasury)])
  const into = await read(ausd, [transferTopic, null, pad(treasury)])
  const moves = movementsOf(line, [...out, ...into], place)
  const times = await timesOf(node, [...line, ...out, ...into], moves)
  const rows: (AusdMove & { movedAt: Date })[] = []
  for (let start = 0; start < moves.length; start += receiptsAtOnce) {
    const some = moves.slice(start, start + receiptsAtOnce)
    const all = await Promise.all(some.map((move) => explained(node, place, move)))
    rows.push(...all.map((move) => ({ ...move, movedAt: times.get(move.block)! })))
  }
  return rows
}

/** Adds the key of a transfer, which only the preceding log of its receipt contains. */
async function explained(node: LogNode, place: Place, move: AusdMove): Promise<AusdMove> {
  if (move.kind !== 'in' && move.kind !== 'out') return move
  const hash = move.txHash as Hex
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (!receipt) throw new Error(`the node returned logs of ${hash}, but no receipt`)
  const logs = receipt.logs as unknown as RpcLog[]
  if (logs.length === 0) throw new Error(`the node returned the receipt of ${hash} without logs`)
  return named(move, logs, place)
}

async function timesOf(node: LogNode, logs: readonly RpcLog[], moves: readonly AusdMove[]): Promise<Map<bigint, Date>> {
  const times = new Map<bigint, Date>()
  for (const { blockNumber, blockTimestamp } of logs)
    if (blockTimestamp) times.set(BigInt(blockNumber!), new Date(Number(blockTimestamp) * 1_000))
  const unknown = [...new Set(moves.map(({ block }) => block))].filter((one) => !times.has(one))
  for (let start = 0; start < unknown.length; start += receiptsAtOnce) {
    const some = unknown.slice(start, start + receiptsAtOnce)
    await Promise.all(some.map(async (block) => void times.set(block, await timeOf(node, block))))
  }
  return times
}
