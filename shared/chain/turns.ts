import type { Clock } from '#platform/clock'
import { pause } from '#platform/deadline'
import { methodOf, type Urgency, urgencies } from '#shared/chain/methods'
import { openRateLimit } from '#shared/provider/rate-limit'

export type RpcBudget = {
  /** Limit of requests, in which each call of a batch counts. */
  readonly requestsPerSecond: number
  /** Limit of `eth_call` and `eth_estimateGas`, which providers count separately. */
  readonly ethCallsPerSecond: number
}

/** Returns the rank of a request, 0 for the most urgent. The least urgent of its calls decides. */
export const rankOf = (methods: readonly string[], urgency?: Urgency): number => {
  const each = methods.map((method) => urgency ?? methodOf(method).urgency)
  return Math.max(...each.map((one) => urgencies.indexOf(one)))
}

export const ethCallsIn = (methods: readonly string[]): number =>
  methods.filter((method) => methodOf(method).runsCode).length

export class BudgetExhausted extends Error {
  override name = 'BudgetExhausted'
  constructor() {
    super('the budget of every RPC endpoint is spent')
  }
}

type TurnRequest = {
  readonly methods: readonly string[]
  readonly among: readonly string[]
  readonly patienceMs: number
  readonly urgency?: Urgency | undefined
}
export type Turn = { readonly url: string; readonly waited: boolean }

export type Turns = {
  /** Reserves budget on the first endpoint that has any. Throws `BudgetExhausted` if none has in time. */
  readonly next: (asked: TurnRequest) => Promise<Turn>
  readonly close: (url: string, forMs: number) => void
}

type Waiter = {
  readonly asked: TurnRequest
  readonly rank: number
  readonly until: number
  readonly take: (turn: Promise<Turn>) => void
  readonly giveUp: () => void
}

const secondMs = 1_000

/**
 * Opens the budgets of a process. All callers share them and wait in one queue: the most urgent first, then the oldest.
 */
export function openTurns(budget: RpcBudget, clock: Clock): Turns {
  const requests = openRateLimit(budget.requestsPerSecond, clock, { windowMs: secondMs })
  const ethCalls = openRateLimit(budget.ethCallsPerSecond, clock, { windowMs: secondMs })
  let waiting: Waiter[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const waitMs = ({ methods }: TurnRequest, url: string): number =>
    Math.max(requests.waitMs(url), ethCallsIn(methods) > 0 ? ethCalls.waitMs(url) : 0)
  const soonestMs = (asked: TurnRequest): number => Math.min(...asked.among.map((url) => waitMs(asked, url)))

  const take = async ({ methods }: TurnRequest, url: string, waited: boolean): Promise<Turn> => {
    let placeMs = 0
    for (const _ of methods) placeMs = requests.reserve(url, Infinity) ?? 0
    for (let call = 0; call < ethCallsIn(methods); call++)
      placeMs = Math.max(placeMs, ethCalls.reserve(url, Infinity) ?? 0)
    if (placeMs > 0) await pause(placeMs)
    return { url, waited: waited || placeMs > 0 }
  }
  const freeAmong = (asked: TurnRequest): string | undefined => asked.among.find((url) => waitMs(asked, url) === 0)

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
      const rank = rankOf(asked.methods, asked.urgency)
      const isFirst = waiting.every((one) => one.rank > rank)
      const url = isFirst ? freeAmong(asked) : undefined
      if (url !== undefined) return take(asked, url, false)
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(new BudgetExhausted())
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
