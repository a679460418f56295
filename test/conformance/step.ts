import type { FactName } from './facts'

export type Step = {
  readonly name: string
  /** Text that `see` must return for the step to pass. */
  readonly expected: string
  readonly see: () => Promise<string>
  readonly fact?: FactName
}

/** A suite, whose steps may build on one another. */
export type Suite = {
  readonly name: string
  readonly steps: readonly Step[]
  readonly skipped?: string
}

/** Verdict of a step; `not here` means that this target cannot test it. */
export type StepVerdict = 'pass' | 'fail' | 'not here'
export type Row = Pick<Step, 'name' | 'expected' | 'fact'> & {
  readonly seen: string
  verdict: StepVerdict
}
export type SuiteResult = {
  readonly name: string
  readonly rows: readonly Row[]
  readonly skipped?: string
}

/** Error of a step that this target cannot test. */
export class NotHere extends Error {
  override name = 'NotHere'
}

/** Runs a suite and never throws. An error counts as the seen value. */
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

/** Returns the result of a step. One that needs the result of a skipped step is skipped too. */
async function resultOf({ see, expected }: Step, isOpenEnded: boolean): Promise<Pick<Row, 'seen' | 'verdict'>> {
  try {
    const seen = await see()
    return { seen, verdict: seen === expected ? 'pass' : 'fail' }
  } catch (error) {
    if (error instanceof NotHere || (error instanceof NothingLeft && isOpenEnded))
      return { seen: error.message, verdict: 'not here' }
    return { seen: `threw ${thrownBy(error)}`, verdict: 'fail' }
  }
}

const thrownBy = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : 'no error')

/** Returns the name of the thrown error as a seen value. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no fault'
  } catch (error) {
    return error instanceof Error ? error.name : 'no error'
  }
}

export class NothingLeft extends Error {
  override name = 'NothingLeft'
}

/** Returns the value. Throws `NothingLeft` without one. */
export function left<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NothingLeft(`an earlier step left no ${what}`)
  return value
}

export type Waiting = { readonly deadlineMs: number; readonly everyMs: number }

export type Target = AsyncDisposable & {
  readonly suites: readonly Suite[]
  readonly secrets: readonly string[]
}
