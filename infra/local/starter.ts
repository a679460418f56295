import { readFileSync } from 'node:fs'

const parentOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return -1
  }
}

/**
 * Package managers set this variable for their scripts; under npx, `bun run` keeps npm's value
 * (1.4.5).
 */
export const isStartedByNpm = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.npm_config_user_agent?.startsWith('npm/') ?? false

/**
 * Calls back when the parent process has gone without sending a signal. A signal to `npx` only
 * leaves its `bun run` behind, so under npx the grandparent is watched too; a shell that started
 * `bun run` directly may exit, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const parent = process.ppid
  const grandparent = isStartedByNpm(process.env) ? parentOf(parent) : undefined
  const there = () =>
    process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)
  setInterval(() => there() || gone(), 1_000).unref()
}
