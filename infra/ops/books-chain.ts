import {
  type Address,
  encodeEventTopics,
  type Hex,
  pad,
  parseEventLogs,
  type RpcLog,
  zeroAddress,
} from 'viem'
import { finalizedBlock, type Node, openNode, readLogs } from '#infra/ops/chain-log'
import type { Place } from '#infra/ops/place'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** What the credit line did under a ref. Amounts are in micro AUSD, addresses in lower case. */
export type Effect = {
  /** `revoke` takes back all that was done under the ref: what was repaid, and what was credited. */
  what: 'credit' | 'repay' | 'revoke'
  ref: Hex
  wallet: string
  ausdMicro: bigint
  /** Until a hold ended, it could be taken back. */
  held: boolean
  txHash: Hex
}

/** AUSD that came to the treasury or left it, not counting the credit line and minting. */
export type Move = {
  from: string
  to: string
  ausdMicro: bigint
  /** The nonce of the authorization that moved it; undefined for a plain transfer. */
  nonce: Hex | undefined
  txHash: Hex
  logIndex: number
}

export type ChainBooks = {
  effects: Effect[]
  moves: Move[]
  /** Between the treasury and the credit line. */
  toLineMicro: bigint
  fromLineMicro: bigint
}

const lower = (hex: string) => hex.toLowerCase()
const topic = (abi: typeof ausdAbi | typeof creditLineAbi, eventName: string) =>
  encodeEventTopics({ abi, eventName } as never)[0] as Hex
const receiptsAtOnce = 8

/** Everything the chain says about the relayer's money, up to `finalized`. */
export async function readChainBooks(place: Place): Promise<ChainBooks> {
  const node = openNode(place.rpcUrl)
  const span = { from: place.deployBlock, to: await finalizedBlock(node) }
  const read = (address: Address, topics: (Hex | Hex[] | null)[]) =>
    readLogs(node, { address, topics }, span, place.logsRangeMax)
  const line = await read(place.creditLine, [lineEvents.map((name) => topic(creditLineAbi, name))])
  const transfer = topic(ausdAbi, 'Transfer')
  const treasury = pad(place.treasury)
  const out = await read(place.ausd, [transfer, treasury])
  const into = await read(place.ausd, [transfer, null, treasury])
  const isLine = (log: RpcLog) => log.topics.slice(1).includes(lower(pad(place.creditLine)) as Hex)
  const isMint = (log: RpcLog) => log.topics[1] === pad(zeroAddress)
  const rest = [...out, ...into].filter((log) => !isLine(log) && !isMint(log))
  return {
    effects: effectsOf(line),
    moves: await movesOf(node, rest),
    toLineMicro: sumOf(out.filter(isLine)),
    fromLineMicro: sumOf(into.filter(isLine)),
  }
}

const sumOf = (logs: readonly RpcLog[]) => logs.reduce((sum, log) => sum + BigInt(log.data), 0n)

const words = {
  CollateralAdded: 'credit',
  Repaid: 'repay',
  TopUpRevoked: 'revoke',
  RepaymentRevoked: 'revoke',
} as const
const moneyEvents = Object.keys(words) as (keyof typeof words)[]
const lineEvents = [...moneyEvents, 'RepaymentHeld'] as const
/** Repayments that an account makes itself have no ref. */
const noRef = pad('0x0')

/** The effects of the line's logs, in the order of the chain. */
export function effectsOf(logs: RpcLog[]): Effect[] {
  const parse = <N extends (typeof lineEvents)[number]>(eventName: N[]) =>
    parseEventLogs({ abi: creditLineAbi, eventName, logs: logs as never })
  const heldRepayments = new Set(parse(['RepaymentHeld']).map(({ args }) => args.ref))
  const effects = parse(moneyEvents)
    .filter(({ args }) => args.ref !== noRef)
    .map(({ eventName, args, transactionHash }) => ({
      what: words[eventName],
      ref: args.ref,
      wallet: lower(args.account),
      ausdMicro: args.amount,
      held:
        ('heldUntil' in args && args.heldUntil > 0n) ||
        (eventName === 'Repaid' && heldRepayments.has(args.ref)),
      txHash: transactionHash,
    }))
  return onePerRevocation(effects)
}

/** A repayment and its excess are taken back in one call that writes two events. */
function onePerRevocation(effects: readonly Effect[]): Effect[] {
  const parts = Map.groupBy(effects, ({ what, ref, txHash }, index) =>
    what === 'revoke' ? `${ref} ${txHash}` : index,
  )
  return [...parts.values()].map(([first, ...others]) => ({
    ...first!,
    ausdMicro: others.reduce((sum, { ausdMicro }) => sum + ausdMicro, first!.ausdMicro),
  }))
}

/** The token writes `AuthorizationUsed` right before the transfer that it allows. */
async function movesOf(node: Node, transfers: readonly RpcLog[]): Promise<Move[]> {
  const moves: Move[] = []
  for (let start = 0; start < transfers.length; start += receiptsAtOnce) {
    const some = transfers.slice(start, start + receiptsAtOnce)
    moves.push(...(await Promise.all(some.map((log) => moveOf(node, log)))))
  }
  return moves
}

async function moveOf(node: Node, log: RpcLog): Promise<Move> {
  const hash = log.transactionHash!
  const { logs } = await node.getTransactionReceipt({ hash })
  const before = logs.find(
    ({ logIndex, address }) =>
      logIndex === Number(log.logIndex) - 1 && lower(address) === lower(log.address),
  )
  const used = before?.topics[0] === topic(ausdAbi, 'AuthorizationUsed')
  const addressOf = (word: Hex | undefined) => `0x${word!.slice(26)}`
  return {
    from: addressOf(log.topics[1]),
    to: addressOf(log.topics[2]),
    ausdMicro: BigInt(log.data),
    nonce: used ? (before!.topics[2] as Hex) : undefined,
    txHash: hash,
    logIndex: Number(log.logIndex),
  }
}
