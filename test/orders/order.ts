import type { Sql } from 'postgres'
import { pause } from '#platform/deadline'
import type { Line } from './line'
import type { Rules, Side } from './side'

/** Chooses the session that takes the next step. */
export type Choose = (count: number) => number

export type Step = { readonly side: 0 | 1; readonly text: string; waited: boolean }
export type Result = { readonly value: unknown } | { readonly error: unknown }
export type Order = { readonly steps: readonly Step[]; readonly results: readonly Result[] }
export type Works = readonly [() => Promise<unknown>, () => Promise<unknown>]

export type Ground = {
  readonly sides: readonly [Side, Side]
  readonly rules: Rules
  /** Connection that reads which session waits for which. */
  readonly watch: Sql
}

/** Longest order in ms, which only a deadlock exceeds that Postgres does not end. */
const orderMaxMs = 20_000
const lookAfterMs = { least: 2, most: 32 }

/**
 * Runs one statement at a time, of the session that `choose` picks. A session that waits for the other's lock is not
 * offered until it has it, so each order is possible, and the same choices repeat it.
 */
export async function runOrder(ground: Ground, works: Works, choose: Choose): Promise<Order> {
  const { rules } = ground
  const steps: Step[] = []
  const sessions = [0, 1].map((side) => openSession(ground, side as 0 | 1))
  const givesUpAt = Date.now() + orderMaxMs
  rules.isOn = true
  rules.order++
  const check = () => {
    if (Date.now() > givesUpAt) throw new Error(`an order is stuck:\n${told(steps)}`)
  }
  const ended: Promise<void>[] = []
  try {
    for (const [at, work] of works.entries()) {
      const { end } = sessions[at]!
      ended.push(
        work().then(
          (value) => end({ value }),
          (error: unknown) => end({ error }),
        ),
      )
      // Statements that are not held run before the other session begins.
      await settled(ground, sessions.slice(0, at + 1), check)
    }
    for (;;) {
      await settled(ground, sessions, check)
      const ready = sessions.filter((one) => one.state() === 'ready')
      if (ready.length === 0) break
      steps.push(ready[choose(ready.length)]!.letGo())
    }
  } finally {
    rules.isOn = false
  }
  await Promise.all(ended)
  return { steps, results: sessions.map((one) => one.result()!) }
}

/** State of a session; `busy` is on the way to its next statement or its end. */
type State = 'busy' | 'ready' | 'blocked' | 'ended'

function openSession({ sides, rules, watch }: Ground, side: 0 | 1) {
  const own = sides[side]
  const other = sides[1 - side]!
  let result: Result | undefined
  let last: Step | undefined
  /** Connection of the other session, whose lock it waits for. */
  let blocker: Line | undefined
  const running = () => [...own.lines].find((line) => line.isRunning())
  const waiting = () => [...own.lines].find((line) => line.waiting())
  return {
    state: (): State => {
      if (running()) return blocker ? 'blocked' : 'busy'
      if (waiting()) return 'ready'
      return result ? 'ended' : 'busy'
    },
    result: () => result,
    end: (what: Result) => {
      result = what
      rules.changed()
    },
    letGo: (): Step => {
      const line = waiting()!
      last = { side, text: line.waiting()!.text, waited: false }
      line.letGo()
      return last
    },
    /** Forgets the blocker if it may have finished, or if `always` is true. */
    lookAgain: (always: boolean) => {
      if (always || !(blocker?.isInside() || blocker?.isRunning())) blocker = undefined
    },
    look: async () => {
      const line = running()
      if (!line) return
      const [row] = await watch<{ pids: number[] }[]>`select pg_blocking_pids(${line.pid()}) pids`
      const pids = row?.pids ?? []
      blocker = line.isRunning() ? [...other.lines].find((one) => pids.includes(one.pid())) : undefined
      if (blocker && last) last.waited = true
    },
  }
}
type Session = ReturnType<typeof openSession>

/** Waits until each session has ended, holds a statement, or waits for the other's lock. */
async function settled({ rules }: Ground, sessions: readonly Session[], check: () => void): Promise<void> {
  for (let waitMs = lookAfterMs.least; ; ) {
    check()
    for (const one of sessions) one.lookAgain(false)
    const states = sessions.map((one) => one.state())
    const isDone = states.every((state) => state === 'ended')
    if (isDone || (states.includes('ready') && !states.includes('busy'))) return
    // In a deadlock Postgres aborts one session, and the other continues.
    if (!states.includes('busy')) for (const one of sessions) one.lookAgain(true)
    const change = Promise.withResolvers<'change'>()
    rules.changed = () => change.resolve('change')
    const came = await Promise.race([change.promise, pause(waitMs)])
    if (came === 'change') continue
    waitMs = Math.min(2 * waitMs, lookAfterMs.most)
    for (const one of sessions) if (one.state() === 'busy') await one.look()
  }
}

export const told = (steps: readonly Step[]): string =>
  steps
    .map(({ side, text, waited }) => {
      const short = text.replace(/\s+/g, ' ').trim()
      return `  ${'AB'[side]}  ${short.slice(0, 110)}${waited ? '  … waits for the other' : ''}`
    })
    .join('\n')
