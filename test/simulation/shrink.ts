import type { runWorld as Run } from './run'
import { recorded, replayed, seeded } from './world/choices'
import type { Wallet } from './world/wallets'

/** Returns a finding without ids and numbers, so that it equals the same one elsewhere. */
export const kindOf = (finding: string): string =>
  finding.replaceAll(/pay_[\w-]+|op_[\w-]+|0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]+|\d+/g, '#')

type Failing = { readonly flows: number; readonly drawn: readonly number[] }
export type Story = { readonly findings: readonly string[]; readonly lines: readonly string[] }

const searchesMax = 40
const attemptsMax = 120
/** Longest search in ms, because a run of a whole world takes seconds. */
const searchMaxMs = 120_000

/** Searches for the fault in fewer flows, then replaces each random choice by the plainest that still shows it. */
export function shrink(
  runWorld: typeof Run,
  wallets: readonly Wallet[],
  failing: { readonly seed: number; readonly flows: number; readonly finding: string },
): Story {
  const kind = kindOf(failing.finding)
  const startedAt = performance.now()
  const isOver = () => performance.now() - startedAt > searchMaxMs
  const quiet = () => {}
  const failsWith = (drawn: readonly number[], flows: number) =>
    runWorld({ choices: replayed(drawn), flows, wallets, saw: quiet }).findings.some((one) => kindOf(one) === kind)
  let { flows, drawn } = smallest(runWorld, wallets, { ...failing, kind, isOver })
  let attempts = 0
  for (let size = Math.ceil(drawn.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < drawn.length && attempts < attemptsMax && !isOver(); from += size) {
      const some = drawn.slice(from, from + size)
      if (some.every((value) => value === 0)) continue
      attempts += 1
      const plainer = drawn.map((value, at) => (at >= from && at < from + size ? 0 : value))
      if (failsWith(plainer, flows)) drawn = plainer
    }
  }
  for (let fewer = Math.ceil(flows / 2); fewer >= 1 && flows > 1 && !isOver(); )
    if (fewer < flows && failsWith(drawn, flows - fewer)) flows -= fewer
    else fewer = Math.floor(fewer / 2)
  const lines: string[] = []
  const story = (line: string) => void lines.push(line)
  const { findings } = runWorld({ choices: replayed(drawn), flows, wallets, saw: quiet, story })
  return { findings, lines }
}

function smallest(
  runWorld: typeof Run,
  wallets: readonly Wallet[],
  { seed, flows: given, kind, isOver }: { seed: number; flows: number; kind: string; isOver: () => boolean },
): Failing {
  const attempt = (from: number, flows: number): Failing | undefined => {
    const choices = recorded(seeded(from))
    const { findings } = runWorld({ choices, flows, wallets, saw: () => {} })
    const isSame = findings.some((one) => kindOf(one) === kind)
    return isSame ? { flows, drawn: choices.drawn } : undefined
  }
  for (const flows of [1, 2, 4, 8, 40].filter((few) => few < given))
    for (let search = 0; search < searchesMax && !isOver(); search++) {
      const found = attempt(seed * 7_919 + search, flows)
      if (found) return found
    }
  return attempt(seed, given)!
}
