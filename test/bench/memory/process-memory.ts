import { readFileSync } from 'node:fs'

/** Memory of a process in MB; `pss` divides shared pages among their processes. */
export type Held = { readonly rssMb: number; readonly pssMb: number }

/** Returns the peak memory in MB, or NaN outside Linux. */
export const peakMemoryMb = (pid: number): number => read(`/proc/${pid}/status`, 'VmHWM')

/** Returns the memory in MB, or NaN outside Linux or if the process has exited. */
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
