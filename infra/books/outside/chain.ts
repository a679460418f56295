import { type Hex, pad, type RpcLog } from 'viem'
import type { Place } from '#infra/ops/place'
import {
  finalizedBlock,
  type Node,
  openNode,
  readLogs,
  type Span,
} from '#infra/ops/record/chain-log'
import type { BooksContext } from '../context'
import { insertMoves, newestMove } from './chain-move.store'
import { advance, findCheckpoint } from './checkpoint.store'
import { lineTopics, type Move, movesOf, named, transferTopic } from './moves'

const source = 'chain'
/** So many times `logsRangeMax` are read, and then kept together with the checkpoint. */
const rangesKept = 40n
const receiptsAtOnce = 8

/**
 * Reads what moved on the chain since the checkpoint, up to `finalized`, and answers the block it
 * read to. Rows and checkpoint are committed together, span by span: whoever is killed, or comes
 * second, leaves nothing out and nothing twice.
 */
export async function readChain({ database, place }: BooksContext): Promise<bigint> {
  const node = openNode(place.rpcUrl)
  const head = await finalizedBlock(node)
  await refuseOtherChain(database, node, head)
  for (;;) {
    const noted = await database.read((db) => findCheckpoint(db, source))
    const read = noted?.block ?? undefined
    const from = read === undefined ? place.deployBlock : read + 1n
    if (from > head) return read ?? head
    const last = from + rangesKept * place.logsRangeMax - 1n
    const to = last < head ? last : head
    // Asked for before the logs: a node that is behind would answer for a range it does not have.
    const readTo = await timeOf(node, to)
    const rows = await readMoves(node, place, { from, to })
    await database.transaction(async (tx) => {
      if (await advance(tx, source, read, { block: to, readTo })) await insertMoves(tx, rows)
    })
  }
}

/** A chain that went back, or is another one, would be read on as if nothing had happened. */
async function refuseOtherChain(
  database: BooksContext['database'],
  node: Node,
  head: bigint,
): Promise<void> {
  const noted = await database.read((db) => findCheckpoint(db, source))
  if (!noted?.block) return
  if (noted.block > head)
    throw new Error(
      `the books were read up to block ${noted.block}, but the chain is final up to ${head}: it was put back, or it is another chain`,
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
      `transaction ${hash} was read in block ${newest.block}, and is not there: the chain was put back, or it is another chain`,
    )
}

const timeOf = async (node: Node, blockNumber: bigint): Promise<Date> => {
  const { timestamp } = await node.getBlock({ blockNumber })
  return new Date(Number(timestamp) * 1_000)
}

/** All moves of a span, each with its time. */
async function readMoves(node: Node, place: Place, span: Span) {
  const { ausd, creditLine, treasury, logsRangeMax } = place
  const read = (address: typeof ausd, topics: (Hex | Hex[] | null)[]) =>
    readLogs(node, { address, topics }, span, logsRangeMax)
  const line = await read(creditLine, [lineTopics])
  const out = await read(ausd, [transferTopic, pad(treasury)])
  const into = await read(ausd, [transferTopic, null, pad(treasury)])
  const moves = movesOf(line, [...out, ...into], place)
  const times = await timesOf(node, [...line, ...out, ...into], moves)
  const rows: (Move & { movedAt: Date })[] = []
  for (let start = 0; start < moves.length; start += receiptsAtOnce) {
    const some = moves.slice(start, start + receiptsAtOnce)
    const all = await Promise.all(some.map((move) => explained(node, place, move)))
    rows.push(...all.map((move) => ({ ...move, movedAt: times.get(move.block)! })))
  }
  return rows
}

/** The log before a transfer says what it is: only its receipt has that. */
async function explained(node: Node, place: Place, move: Move): Promise<Move> {
  if (move.kind !== 'in' && move.kind !== 'out') return move
  const hash = move.txHash as Hex
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (!receipt) throw new Error(`the node has logs of ${hash}, but no receipt`)
  return named(move, receipt.logs as unknown as RpcLog[], place)
}

/** When the blocks of the moves were made. Some nodes say it with the logs; others are asked. */
async function timesOf(
  node: Node,
  logs: readonly RpcLog[],
  moves: readonly Move[],
): Promise<Map<bigint, Date>> {
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
