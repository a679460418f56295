import { afterAll, beforeAll, describe } from 'bun:test'
import type { Stack } from '#infra/local/stack'
import { ownStack, type SuiteOptions } from '../support/stack'

let current: Stack | undefined

/**
 * Runs suites in sequence that need the same configuration and kill processes or inject faults. `load` imports a
 * `*.suite.ts`, which takes the stack by `groupStack()` and leaves every process running. The name of a suite is that
 * of its file, for `-t`.
 */
export function onOneStack(
  options: () => SuiteOptions,
  suites: Readonly<Record<string, () => Promise<unknown>>>,
): void {
  beforeAll(async () => {
    current = await ownStack(options())
  })
  afterAll(async () => {
    await current?.[Symbol.asyncDispose]()
    current = undefined
  })
  for (const [name, load] of Object.entries(suites))
    describe(name, async () => {
      await load()
    })
}

export function groupStack(): Stack {
  if (!current) throw new Error('the stack of this group did not start')
  return current
}
