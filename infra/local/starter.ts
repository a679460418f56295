import { readFileSync } from 'node:fs'

const parentOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return -1
  }
}

/** Package managers set this variable; under npx, `bun run` keeps npm's value (1.4.5). */
export const isStartedByNpm = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.npm_config_user_agent?.startsWith('npm/') ?? false

/** Empty if the process has ended, or the system has no `/proc`. */
function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

const ancestors = (levels: number): number[] => {
  const pids = [process.ppid]
  while (pids.length < levels) pids.push(parentOf(pids.at(-1)!))
  return pids
}

/** npm's shell, `bun run` and its shell may stay between npm and the program. */
const levelsMax = 4

/**
 * How many ancestors, whose names begin with the parent's, must live on: up to npm, which names its process
 * after its command, because a signal to npm may leave the others behind; otherwise the parent, because the
 * shell above it may exit, as with nohup.
 */
export function watchedLevels(names: readonly string[], isByNpm: boolean): number {
  if (!isByNpm) return 1
  const at = names.findIndex((name) => name.startsWith('npm'))
  return at === -1 ? 2 : at + 1
}

export function watchStarter(gone: () => void): void {
  const levels = watchedLevels(ancestors(levelsMax).map(nameOf), isStartedByNpm(process.env))
  const before = ancestors(levels)
  const there = () => Bun.deepEquals(ancestors(levels), before)
  setInterval(() => there() || gone(), 1_000).unref()
}
