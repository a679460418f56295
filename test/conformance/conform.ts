import { outcomeLine } from '../prove/outcome'
import { type Arguments, argumentsFrom, usage } from './arguments'
import { WrongKey } from './keys'
import { openLiveTarget } from './live-target'
import { factsOf, factsText, failed, summaryOf, tableOf } from './report'
import { openSandboxTarget } from './sandbox-target'
import type { Target } from './step'
import { runSuite, type SuiteResult } from './step'
import { openTestModeTarget } from './test-mode-target'

type Environment = Readonly<Record<string, string | undefined>>

/** Runs the suites. Returns the exit code: 1 if a step failed or a key is of another world, 2 for invalid arguments. */
export async function conform(
  words: readonly string[],
  env: Environment,
  say: (text: string) => void,
): Promise<0 | 1 | 2> {
  const asked = argumentsFrom(words)
  if ('fault' in asked) {
    say(`${asked.fault}\n${usage}`)
    return 2
  }
  try {
    await using target = await openTarget(asked, env, say)
    const results = await runAll(target, asked.only, say)
    if (asked.target !== 'live-read-only' && (asked.only === null || results.some(hasFacts)))
      say(factsText(factsOf(results, asked.target)))
    say(summaryOf(results))
    const rows = results.flatMap((result) => result.rows)
    const found = rows.filter(({ verdict }) => verdict === 'fail').length
    say(outcomeLine({ amount: `${rows.length} steps`, found }))
    return failed(results) ? 1 : 0
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error
    say(error.message)
    return 1
  }
}

const hasFacts = ({ rows }: SuiteResult): boolean => rows.some(({ fact }) => fact !== undefined)

function openTarget({ target, payerMs }: Arguments, env: Environment, say: (line: string) => void) {
  if (target === 'live-read-only') return openLiveTarget(env)
  return target === 'sandbox' ? openSandboxTarget() : openTestModeTarget(env, { payerMs, say })
}

export async function runAll(
  { suites, secrets }: Pick<Target, 'suites' | 'secrets'>,
  only: string | null,
  say: (text: string) => void,
): Promise<SuiteResult[]> {
  const results: SuiteResult[] = []
  for (const suite of suites.filter(({ name }) => only === null || name.includes(only))) {
    const result = await runSuite(suite)
    results.push(result)
    say(tableOf(result, secrets))
  }
  return results
}
