import { type AbiEvent, type Address, type Hex, toEventSelector } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** Number of an event; the contract counts from 1 without a gap. */
type Numbered = { sequence: string }
type Account = Numbered & { account: string }

/** Arguments named as in the ABI. Integers are decimal strings, bytes are hex. */
export type EventArgs = {
  VerifiedSet: Account & { verified: boolean }
  FrozenSet: Account & { frozen: boolean }
  CollateralAdded: Account & { ref: string; amount: string; shares: string; heldUntil: string }
  CollateralWithdrawn: Account & { to: string; amount: string; shares: string }
  CollateralSeized: Account & { amount: string; shares: string; drawnAfter: string }
  TopUpRevoked: Account & { ref: string; amount: string; shares: string }
  Drawn: Account & { to: string; amount: string; drawnAfter: string }
  Repaid: Account & { ref: string; payer: string; amount: string; drawnAfter: string }
  RepaymentHeld: Account & { ref: string; amount: string; heldUntil: string }
  RepaymentRevoked: Account & {
    ref: string
    amount: string
    drawnAfter: string
    openedAt: string
  }
  HoldExtended: Account & { ref: string; heldUntil: string }
  AutoRepaySet: Account & { maxPerCycle: string; fromCollateral: boolean }
  AutoRepaid: Account & { amount: string; fromCollateral: boolean }
  CycleOpened: Account & { number: string; openedAt: string; dueAt: string }
  CycleRedated: Account & { number: string; openedAt: string; dueAt: string }
  CycleClosed: Account & {
    number: string
    outcome: string
    peakDrawn: string
    totalRepaid: string
    scoreAfter: string
    ratioBpsAfter: string
  }
  CycleReversed: Account & { number: string; amount: string; scoreAfter: string }
  DefaultMarked: Account & { number: string; seized: string; stillOwed: string }
  TermsExtended: Numbered & { seconds_: string }
  YieldAdded: Numbered & { payer: string; amount: string }
  LiquidityFunded: Numbered & { payer: string; amount: string }
  LiquidityWithdrawn: Numbered & { to: string; amount: string }
}
export type EventName = keyof EventArgs

export type EventPlace = {
  readonly wallet: Address | null
  readonly blockNumber: number
  readonly logIndex: number
  readonly txHash: Hex
  readonly atSeconds: number
}
export type ChainEvent<Name extends EventName = EventName> = {
  [N in Name]: EventPlace & { readonly name: N; readonly args: EventArgs[N] }
}[Name]

export const walletsOf = (events: readonly ChainEvent[]): Set<Address> =>
  new Set(events.flatMap(({ wallet }) => wallet ?? []))

export const sequenceOf = ({ args }: ChainEvent): number => Number(args.sequence)

type Input = { readonly name: string; readonly type: string }
type Shape = { readonly name: EventName; readonly topics: Input[]; readonly words: Input[] }

/** Layouts of the events with a sequence, which every event that changes state has. */
const shapes = new Map<string, Shape>(
  (creditLineAbi as readonly { type: string }[])
    .filter((item): item is AbiEvent => item.type === 'event')
    .filter(({ inputs }) => inputs.some(({ name }) => name === 'sequence'))
    .map(shapeOf),
)

export const followedTopics = [...shapes.keys()]

function shapeOf(item: AbiEvent): [string, Shape] {
  const inputs = item.inputs.map(({ name, type }) => ({ name: name ?? '', type }))
  const indexed = (_: Input, index: number) => item.inputs[index]?.indexed === true
  return [
    toEventSelector(item),
    {
      name: item.name as EventName,
      topics: inputs.filter(indexed),
      words: inputs.filter((input, index) => !indexed(input, index)),
    },
  ]
}

/**
 * Decodes a log. Returns null for an event that is not followed; throws on a wrong length. Arguments are single words,
 * so slicing replaces viem's decoder, which takes ten times as long.
 */
export function decodeArgs(topics: readonly string[], data: string) {
  const shape = shapes.get(topics[0] ?? '')
  if (!shape) return null
  if (topics.length !== shape.topics.length + 1 || data.length !== 2 + 64 * shape.words.length) {
    throw new Error(`${shape.name} log has an unexpected length`)
  }
  const args: Record<string, string | boolean> = {}
  shape.topics.forEach((input, index) => {
    args[input.name] = readWord(input.type, topics[index + 1]!.slice(2))
  })
  shape.words.forEach((input, index) => {
    args[input.name] = readWord(input.type, data.slice(2 + 64 * index, 66 + 64 * index))
  })
  return { name: shape.name, args } as Pick<ChainEvent, 'name' | 'args'>
}

function readWord(type: string, word: string): string | boolean {
  if (type === 'address') return `0x${word.slice(24).toLowerCase()}`
  if (type === 'bytes32') return `0x${word}`
  if (type === 'bool') return word.endsWith('1')
  return BigInt(`0x${word}`).toString()
}
