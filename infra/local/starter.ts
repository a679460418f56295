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

/** npm runs a script in a shell, which may stay between npm and the script. */
function isShell(pid: number): boolean {
  try {
    return /^(ba|da|z|k)?sh\n$/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))
  } catch {
    return false
  }
}

const ancestors = (levels: number): number[] => {
  const pids = [process.ppid]
  while (pids.length < levels) pids.push(parentOf(pids.at(-1)!))
  return pids
}

/**
 * A signal to `npx` leaves its shell and `bun run` behind, so all ancestors up to it are watched; a shell
 * that ran `bun run` directly may exit, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const [, grandparent] = ancestors(2)
  const levels = !isStartedByNpm(process.env) ? 1 : isShell(grandparent!) ? 3 : 2
  const before = ancestors(levels)
  const there = () => Bun.deepEquals(ancestors(levels), before)
  setInterval(() => there() || gone(), 1_000).unref()
}
