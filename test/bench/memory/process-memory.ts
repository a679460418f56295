import { readFileSync } from 'node:fs'

/** The most memory a process held so far, in MB, as the kernel counted it; NaN outside Linux. */
export function peakMemoryMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_000
  } catch {
    return Number.NaN
  }
}
