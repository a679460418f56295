import { Unavailable } from '#platform/bus/ask'
import { DatabaseRefused } from '#platform/db/open'
import { DeadlinePassed } from '#platform/deadline'
import { ProviderBusy, ProviderUnknown } from '#shared/provider/problem'
import { choiceMax } from './choices'

export type Fault =
  | 'none'
  | 'refused'
  | 'busy'
  | 'not done, no answer'
  | 'done, no answer'
  | 'crash before'
  | 'crash after'
  | 'freeze'

/** An effect; its `shares` are of 65,536. */
export type Effect = {
  readonly number: number
  readonly name: string
  /** True if the story mentions the effect even if it succeeds. */
  readonly isTold: boolean
  readonly usualMs: number
  readonly shares: readonly (readonly [Fault, number])[]
  /** Returns the error that a fault puts in place of a response. */
  readonly refusalOf: (fault: Fault, what: string) => FaultRefusal | undefined
}
type FaultRefusal = { readonly error: Error; readonly isDone: boolean }

const ends: Effect['shares'] = [
  ['crash before', 24],
  ['crash after', 24],
  ['freeze', 24],
]

const unheard =
  (make: (what: string) => Error): Effect['refusalOf'] =>
  (fault, what) => {
    if (fault === 'not done, no answer') return { error: make(what), isDone: false }
    if (fault === 'done, no answer') return { error: make(what), isDone: true }
    if (fault === 'busy') return { error: new ProviderBusy(what, 1_000), isDone: false }
    if (fault === 'refused') return { error: new DatabaseRefused('deadlock'), isDone: false }
    return undefined
  }

/** Effect of a read, which changes nothing and so can only fail. */
export const reading: Effect = {
  name: 'reading rows',
  number: 1,
  isTold: false,
  usualMs: 4,
  shares: [['not done, no answer', 60], ...ends],
  refusalOf: unheard((what) => new DeadlinePassed(what, 8_000)),
}
export const writing: Effect = {
  name: 'writing rows',
  number: 2,
  isTold: false,
  usualMs: 8,
  shares: [['refused', 130], ['not done, no answer', 60], ['done, no answer', 130], ...ends],
  refusalOf: unheard((what) => new DeadlinePassed(what, 8_000)),
}
export const asking: Effect = {
  name: 'a question',
  number: 3,
  isTold: false,
  usualMs: 10,
  shares: [['not done, no answer', 130], ['done, no answer', 130], ...ends],
  refusalOf: (fault, what) =>
    fault === 'not done, no answer'
      ? { error: new Unavailable(what), isDone: false }
      : unheard((asked) => new DeadlinePassed(asked, 1_500))(fault, what),
}
export const callingProvider: Effect = {
  name: 'a call of the provider',
  number: 4,
  isTold: true,
  usualMs: 120,
  shares: [['busy', 200], ['not done, no answer', 650], ['done, no answer', 650], ...ends],
  refusalOf: unheard((what) => new ProviderUnknown(what)),
}
export const publishing: Effect = {
  name: 'publishing',
  number: 5,
  isTold: false,
  usualMs: 6,
  shares: [['not done, no answer', 330], ['done, no answer', 330], ...ends],
  refusalOf: unheard((what) => new Error(what)),
}
export const callingChain: Effect = {
  name: 'a call of the chain',
  number: 6,
  isTold: false,
  usualMs: 30,
  shares: [['not done, no answer', 330], ['done, no answer', 330], ...ends],
  refusalOf: unheard((what) => new Error(`${what}: no endpoint answers`)),
}
export const acknowledging: Effect = {
  name: 'an acknowledgement',
  number: 7,
  isTold: false,
  usualMs: 3,
  shares: [['not done, no answer', 400], ...ends],
  refusalOf: unheard((what) => new Error(what)),
}

const effects = [reading, writing, asking, callingProvider, publishing, callingChain, acknowledging]

/** Returns the name by which a run counts a fault. */
export const sightOf = ({ name }: Effect, fault: Fault): string => `${name}: ${fault}`

export const faultSights: readonly string[] = effects.flatMap((effect) =>
  effect.shares.map(([fault]) => sightOf(effect, fault)),
)

/** Returns the fault of a drawn number; only the highest numbers are faults. */
export function faultOf({ shares }: Effect, drawn: number): Fault {
  let least = choiceMax
  for (const [fault, share] of shares) {
    least -= share
    if (drawn >= least) return fault
  }
  return 'none'
}

/** Returns a latency in ms, which is mostly short and sometimes takes seconds. */
export function latencyOf({ usualMs }: Effect, drawn: number, isCalm: boolean): number {
  const share = drawn & 0xff
  const usual = 1 + Math.floor(((drawn >> 8) * usualMs) / 256)
  if (isCalm || share < 245) return usual
  return share < 254 ? usual + 200 : usual + 1_000 * (share - 252) * 4
}
