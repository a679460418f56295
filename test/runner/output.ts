export type Counts = { passed: number; failed: number; skipped: number }

/** A block of output. Suites run in parallel, so that of one comes in several blocks. */
export type Block = { readonly path: string; readonly lines: readonly string[] }

const heading = /^((?:services|shared|infra|test)\/\S+\.test\.ts):$/
const count = /^ *(\d+) (pass|fail|skip|todo)$/
/** Heading below which Bun repeats failed and skipped tests by name. */
const summary = /^\d+ tests? (failed|skipped|todo):$/

/** Variables with which Bun prints colours, groups, or failures only, as a terminal, GitHub or an agent may set them. */
export const forReader: Readonly<Record<string, string | undefined>> = {
  NO_COLOR: '1',
  FORCE_COLOR: undefined,
  GITHUB_ACTIONS: undefined,
  AGENT: undefined,
  CLAUDECODE: undefined,
  REPL_ID: undefined,
}

/** Reads the output of `bun test --parallel`. `end` returns the counts, which Bun prints last. */
export function openReader(onBlock: (block: Block) => void) {
  let block: { path: string; lines: string[] } | undefined
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  const close = () => {
    if (block) onBlock(block)
    block = undefined
  }
  return {
    take: (line: string) => {
      const path = heading.exec(line)?.[1]
      const [, number, what] = count.exec(line) ?? []
      if (path || number || summary.test(line)) close()
      if (path) block = { path, lines: [] }
      else if (number) counts[fieldOf(what!)] += Number(number)
      else block?.lines.push(line)
    },
    end: (): Counts => {
      close()
      return counts
    },
  }
}

const fieldOf = (what: string) => (what === 'pass' ? 'passed' : what === 'fail' ? 'failed' : 'skipped')

const isPassed = (line: string) => line.startsWith('(pass) ')
const isFailed = (line: string) => /^\(fail\) |^# Unhandled error/.test(line)
const isQuiet = (line: string) => /^\((pass|skip|todo)\) /.test(line)

/** Returns a block without its passed tests, or undefined if nothing failed. */
export function failureIn({ path, lines }: Block): string | undefined {
  if (!lines.some(isFailed)) return undefined
  return [`${path}:`, ...lines.filter((line) => !isQuiet(line))].join('\n').trimEnd()
}

export const countsIn = ({ lines }: Block) => ({
  passed: lines.filter(isPassed).length,
  failed: lines.filter(isFailed).length,
})
