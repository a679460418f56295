import { readdirSync, readFileSync } from 'node:fs'

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number)
}

function parentOf(pid: string): number | undefined {
  try {
    const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
    return Number(parent)
  } catch {
    return undefined // It exited.
  }
}

/** Postgres has a process for each connection. */
export function signalAll(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, signal)
    } catch {
      // It exited.
    }
  }
}
