import type { Suite } from './step'

/** Where the suites run: what to run, what may never be printed, and what to close. */
export type Target = AsyncDisposable & {
  readonly suites: readonly Suite[]
  readonly secrets: readonly string[]
}
