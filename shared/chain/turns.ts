import type { Clock } from '#shared/clock'
import { pause } from '#shared/deadline'
import { openRateLimit } from '#shared/provider/rate-limit'

/** What one process asks of one endpoint within a second at most. */
export type RpcBudget = {
  /** Every JSON-RPC call, each of a batch counted. */
  readonly requestsPerSecond: number
  /** `eth_call` and `eth_estimateGas`, which providers count apart besides. */
  readonly ethCallsPerSecond: number
}

/** Who goes first where budgets are spent: what moves money, then what ends it, then questions. */
const urgencies = ['send', 'finality', 'read', 'sweep'] as const
type Urgency = (typeof urgencies)[number]

const urgencyByMethod: ReadonlyMap<string, Urgency> = new Map([
  ['eth_sendRawTransaction', 'send'],
  ['eth_getTransactionReceipt', 'finality'],
  ['eth_getTransactionCount', 'finality'],
  ['eth_getBlockByNumber', 'finality'],
  ['eth_getLogs', 'sweep'],
])

/** The rank of a batch is that of its least urgent call; 0 goes first. */
export const rankOf = (methods: readonly string[]): number =>
  Math.max(...methods.map((method) => urgencies.indexOf(urgencyByMethod.get(method) ?? 'read')))

const apart: ReadonlySet<string> = new Set(['eth_call', 'eth_estimateGas'])

/** How many of these calls are counted apart. */
export const ethCallsIn = (methods: readonly string[]): number =>
  methods.filter((method) => apart.has(method)).length

/** No endpoint had budget left within the time there was: nothing was asked. */
export class BudgetSpent extends Error {
  override name = 'BudgetSpent'
  constructor() {
    super('the budget of every RPC endpoint is spent')
  }
}

type Asked = {
  readonly methods: readonly string[]
  /** By their URLs, the best one first. */
  readonly among: readonly string[]
  readonly patienceMs: number
}
export type Turn = { readonly url: string; readonly waited: boolean }

/** Whose turn it is to ask an endpoint. */
export type Turns = {
  /** Takes a place in the budget of the first endpoint that has one; throws `BudgetSpent`. */
  readonly next: (asked: Asked) => Promise<Turn>
  /** Nobody asks this endpoint for so long: it said that it was asked too often. */
  readonly close: (url: string, forMs: number) => void
}

type Waiter = {
  readonly asked: Asked
  readonly rank: number
  readonly until: number
  readonly take: (turn: Promise<Turn>) => void
  readonly giveUp: () => void
}

const secondMs = 1_000

/**
 * Budgets of endpoints, shared by everything one process asks. Who finds them spent waits in one
 * queue: the most urgent first, then by age. One timer wakes the queue when a place may be free.
 */
export function openTurns(budget: RpcBudget, clock: Clock): Turns {
  const requests = openRateLimit(budget.requestsPerSecond, clock, { windowMs: secondMs })
  const ethCalls = openRateLimit(budget.ethCallsPerSecond, clock, { windowMs: secondMs })
  let waiting: Waiter[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const waitMs = ({ methods }: Asked, url: string): number =>
    Math.max(requests.waitMs(url), ethCallsIn(methods) > 0 ? ethCalls.waitMs(url) : 0)
  const soonestMs = (asked: Asked): number =>
    Math.min(...asked.among.map((url) => waitMs(asked, url)))

  /** Every call of a batch has its place; what the last one waits for, all of them do. */
  const take = async ({ methods }: Asked, url: string, waited: boolean): Promise<Turn> => {
    let placeMs = 0
    for (const _ of methods) placeMs = requests.reserve(url, Infinity) ?? 0
    for (let call = 0; call < ethCallsIn(methods); call++)
      placeMs = Math.max(placeMs, ethCalls.reserve(url, Infinity) ?? 0)
    if (placeMs > 0) await pause(placeMs)
    return { url, waited: waited || placeMs > 0 }
  }
  const freeAmong = (asked: Asked): string | undefined =>
    asked.among.find((url) => waitMs(asked, url) === 0)

  const serve = () => {
    clearTimeout(timer)
    const left: Waiter[] = []
    for (const one of waiting) {
      const url = freeAmong(one.asked)
      if (url !== undefined) one.take(take(one.asked, url, true))
      else if (clock() + soonestMs(one.asked) > one.until) one.giveUp()
      else left.push(one)
    }
    waiting = left
    if (waiting.length === 0) return
    const soonest = Math.min(...waiting.map(({ asked }) => soonestMs(asked)))
    timer = setTimeout(serve, Math.max(1, soonest))
  }

  return {
    next: (asked) => {
      const rank = rankOf(asked.methods)
      const isFirst = waiting.every((one) => one.rank > rank)
      const url = isFirst ? freeAmong(asked) : undefined
      if (url !== undefined) return take(asked, url, false)
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(new BudgetSpent())
        const until = clock() + asked.patienceMs
        const behind = waiting.findIndex((one) => one.rank > rank)
        const place = behind < 0 ? waiting.length : behind
        waiting.splice(place, 0, { asked, rank, until, take: resolve, giveUp })
        serve()
      })
    },
    close: (url, forMs) => requests.block(url, forMs),
  }
}
