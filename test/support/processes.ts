import { readdirSync, readFileSync } from 'node:fs'

/** Returns a file of `proc(5)` about a process, or an empty text once it has ended. */
export function about(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Returns true if a process has ended. By `proc_pid_stat(5)`, one that its parent has not waited for yet is a zombie.
 */
export const hasEnded = (pid: number): boolean => !/\) [^Z]/.test(about(pid, 'stat'))

export function childrenOf(pid: number): number[] {
  const children = threadsOf(pid).map((thread) => about(pid, `task/${thread}/children`))
  return children.join(' ').split(' ').filter(Boolean).map(Number)
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

export const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])

/** Sends a signal to processes and passes over those that have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended.
    }
  }
}

/**
 * Returns processes with their children. Postgres has a process, in a process group of its own, for each connection.
 */
export const withChildren = (pids: readonly number[]): number[] => [...pids, ...pids.flatMap(childrenOf)]
