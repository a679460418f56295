import type { FactName } from './facts'

/** One fact that a service relies on: what is expected, and how to see what is the case. */
export type Step = {
  readonly name: string
  /** A few words; the step passes when `see` answers exactly these. */
  readonly expected: string
  readonly see: () => Promise<string>
  /** The fact of `facts.ts` that it shows. */
  readonly fact?: FactName
}

/** All facts about one client. Steps run in order and may build on one another. */
export type Suite = {
  readonly name: string
  readonly steps: readonly Step[]
  /** Why it cannot run here, in words; then it has no steps. */
  readonly skipped?: string
}

/** `not here`: this target cannot show the fact, and `seen` says why. */
export type Verdict = 'pass' | 'fail' | 'not here'
export type Row = Pick<Step, 'name' | 'expected' | 'fact'> & {
  readonly seen: string
  verdict: Verdict
}
export type SuiteResult = {
  readonly name: string
  readonly rows: readonly Row[]
  readonly skipped?: string
}

/** Thrown by a step that this target cannot show. It is no failure. */
export class NotHere extends Error {
  override name = 'NotHere'
}

/** Runs the steps one after another; what a step throws is what it saw. Never throws. */
export async function runSuite(
  { name, steps, skipped }: Suite,
  onRow: (row: Row) => void = () => {},
): Promise<SuiteResult> {
  const rows: Row[] = []
  for (const step of skipped === undefined ? steps : []) {
    const isOpenEnded = rows.some(({ verdict }) => verdict === 'not here')
    const { name: title, expected, fact } = step
    const seen = await resultOf(step, isOpenEnded)
    const row = { name: title, expected, ...(fact && { fact }), ...seen }
    rows.push(row)
    onRow(row)
  }
  return { name, rows, ...(skipped === undefined ? {} : { skipped }) }
}

/** What a step that cannot be shown would have left, no later step can use either. */
async function resultOf(
  { see, expected }: Step,
  isOpenEnded: boolean,
): Promise<Pick<Row, 'seen' | 'verdict'>> {
  try {
    const seen = await see()
    return { seen, verdict: seen === expected ? 'pass' : 'fail' }
  } catch (error) {
    if (error instanceof NotHere || (error instanceof NothingLeft && isOpenEnded))
      return { seen: error.message, verdict: 'not here' }
    return { seen: `threw ${thrownBy(error)}`, verdict: 'fail' }
  }
}

const thrownBy = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'no error'

/** The name of the error that `work` throws: how an expected fault becomes something seen. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no fault'
  } catch (error) {
    return error instanceof Error ? error.name : 'no error'
  }
}

/** A step that this one builds on left nothing. */
export class NothingLeft extends Error {
  override name = 'NothingLeft'
}

/** What an earlier step left for this one. Throws `NothingLeft`. */
export function left<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NothingLeft(`an earlier step left no ${what}`)
  return value
}

/** How long a target takes for what happens on its own, and how often to ask. */
export type Waiting = { readonly deadlineMs: number; readonly everyMs: number }

/** Where the suites run: what to run, what may never be printed, and what to close. */
export type Target = AsyncDisposable & {
  readonly suites: readonly Suite[]
  readonly secrets: readonly string[]
}
