import { readFileSync } from 'node:fs'

/** What a process holds, in MB: `rss` as tools show it, `pss` with what it shares divided by the sharers. */
export type Held = { readonly rssMb: number; readonly pssMb: number }

/** The most memory a process held so far, in MB, as the kernel counted it; NaN outside Linux. */
export const peakMemoryMb = (pid: number): number => read(`/proc/${pid}/status`, 'VmHWM')

/** What it holds now; NaN outside Linux, and of a process that is gone. */
export const memoryOf = (pid: number): Held => {
  const path = `/proc/${pid}/smaps_rollup`
  return { rssMb: read(path, 'Rss'), pssMb: read(path, 'Pss') }
}

function read(path: string, name: string): number {
  try {
    const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'))
    return Number(line?.[1]) / 1_000
  } catch {
    return Number.NaN
  }
}
