import { type Address, encodeEventTopics, getAbiItem, type Hex, pad, parseEventLogs, type RpcLog } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { chainMoveKinds } from '../schema.store'

/** Movement of AUSD on the chain, with addresses and hashes in lower case. */
export type AusdMove = {
  readonly txHash: string
  readonly logIndex: number
  readonly block: bigint
  readonly kind: (typeof chainMoveKinds)[number]
  readonly key: string | null
  readonly wallet: Address
  readonly ausdMicro: bigint
  readonly held: boolean
}

export type BookedContracts = { readonly ausd: Address; readonly creditLine: Address }
type BookedPlaces = BookedContracts & { readonly treasury: Address }

const lower = (hex: string) => hex.toLowerCase() as Hex
const addressOf = (word: Hex | undefined) => lower(`0x${word!.slice(26)}`)
const zero = pad('0x0')

const topicOf = (abi: typeof ausdAbi | typeof creditLineAbi, eventName: string): Hex =>
  encodeEventTopics({ abi, eventName } as never)[0] as Hex
export const transferTopic = topicOf(ausdAbi, 'Transfer')
const usedTopic = topicOf(ausdAbi, 'AuthorizationUsed')

const kinds = {
  CollateralAdded: 'credit',
  Repaid: 'repay',
  TopUpRevoked: 'revoke',
  RepaymentRevoked: 'revoke',
} as const
// `parseEventLogs` hashes the whole ABI that it gets, once per call.
const refEvents = creditLineAbi.filter(
  (item): item is Extract<(typeof creditLineAbi)[number], { type: 'event'; name: keyof typeof kinds }> =>
    item.type === 'event' && item.name in kinds,
)
const repaymentHeld = [getAbiItem({ abi: creditLineAbi, name: 'RepaymentHeld' })] as const
/** Events of the credit line that move treasury AUSD. */
export const lineTopics = [...Object.keys(kinds), 'RepaymentHeld'].map((name) => topicOf(creditLineAbi, name))
/** User actions that send AUSD from the credit line to an address the user chose. */
const chosenTopics = ['Drawn', 'CollateralWithdrawn'].map((name) => topicOf(creditLineAbi, name))

const placeIn = (log: RpcLog) => Number(log.logIndex)

/**
 * Returns the movements of the given logs. A transfer between treasury and credit line that equals the sum of the
 * events before it only carries them out, so it is omitted. Any other transfer, such as the treasury key funding the
 * pool, is a movement of its own.
 */
export function movementsOf(
  lineLogs: readonly RpcLog[],
  transferLogs: readonly RpcLog[],
  places: BookedPlaces,
): AusdMove[] {
  const all = new Map([...lineLogs, ...transferLogs].map((log) => [`${idOf(log)}`, log]))
  const byTransaction = Map.groupBy(all.values(), ({ transactionHash }) => transactionHash)
  return [...byTransaction.values()].flatMap((logs) =>
    movesOfOne(
      logs.sort((left, right) => placeIn(left) - placeIn(right)),
      places,
    ),
  )
}

const idOf = (log: RpcLog) => `${log.transactionHash}:${placeIn(log)}`

function movesOfOne(logs: readonly RpcLog[], places: BookedPlaces): AusdMove[] {
  const line = lower(places.creditLine)
  const heldRefs = new Set(parseEventLogs({ abi: repaymentHeld, logs: logs as never }).map(({ args }) => args.ref))
  let toLine = 0n
  let fromLine = 0n
  return logs.flatMap((log): AusdMove[] => {
    if (lower(log.address) === line) {
      const move = refMoveOf(log, heldRefs)
      if (move?.kind === 'revoke') fromLine += move.ausdMicro
      else toLine += move?.ausdMicro ?? 0n
      return move ? [move] : []
    }
    const move = transferMoveOf(log, places)
    const reported = move?.wallet !== line ? 0n : move.kind === 'out' ? toLine : fromLine
    if (move?.ausdMicro !== reported) return move ? [move] : []
    if (move.kind === 'out') toLine = 0n
    else fromLine = 0n
    return []
  })
}

const commonOf = (log: RpcLog) => ({
  txHash: lower(log.transactionHash!),
  logIndex: placeIn(log),
  block: BigInt(log.blockNumber!),
})

/** Reads an event of the credit line that has a ref. Repayments by the account itself have none and are ignored. */
function refMoveOf(log: RpcLog, heldRefs: ReadonlySet<Hex>): AusdMove | undefined {
  const [event] = parseEventLogs({ abi: refEvents, logs: [log] as never })
  if (!event || event.args.ref === zero) return undefined
  const { eventName, args } = event
  return {
    ...commonOf(log),
    kind: kinds[eventName],
    key: lower(args.ref),
    wallet: lower(args.account),
    ausdMicro: args.amount,
    held:
      (eventName === 'CollateralAdded' && args.heldUntil > 0n) || (eventName === 'Repaid' && heldRefs.has(args.ref)),
  }
}

/** Reads a transfer. Returns undefined if its amount is 0 or both sides are the treasury. */
function transferMoveOf(log: RpcLog, { treasury }: BookedPlaces): AusdMove | undefined {
  const [from, to] = [addressOf(log.topics[1]), addressOf(log.topics[2])]
  const ausdMicro = BigInt(log.data)
  if (from === to || ausdMicro === 0n) return undefined
  const isOut = from === lower(treasury)
  const wallet = isOut ? to : from
  const isNobody = BigInt(wallet) === 0n
  const kind = isOut ? (isNobody ? 'burn' : 'out') : isNobody ? 'mint' : 'in'
  return { ...commonOf(log), kind, key: null, wallet, ausdMicro, held: false }
}

/**
 * Returns the key of a signed transfer. It includes the amount in 10⁻⁶ AUSD, because the owner can sign a nonce twice,
 * the second time with another amount than was agreed.
 */
export const transferKey = (authorizer: string, nonce: string, ausdMicro: bigint | string) =>
  `${authorizer}:${nonce}:${ausdMicro}`.toLowerCase()

/**
 * Adds what the log right before a transfer says: the key of a signed transfer, or the user who sent AUSD from the
 * credit line to the treasury.
 */
export function named(move: AusdMove, logs: readonly RpcLog[], { ausd, creditLine }: BookedContracts): AusdMove {
  const before = logs.find((log) => placeIn(log) === move.logIndex - 1)
  const topic = before?.topics[0]
  if (!before || !topic) return move
  if (lower(before.address) === lower(ausd) && topic === usedTopic)
    return {
      ...move,
      key: transferKey(addressOf(before.topics[1]), before.topics[2]!, move.ausdMicro),
    }
  if (lower(before.address) === lower(creditLine) && chosenTopics.includes(topic))
    return { ...move, wallet: addressOf(before.topics[1]) }
  return move
}
