import { readdirSync, readFileSync } from 'node:fs'

/** Ticks per ms: a tick has 10 ms (`sysconf(_SC_CLK_TCK)`). */
const ticksPerMs = 0.1

type Stat = { readonly parent: number; readonly ms: number }

/**
 * Returns the CPU time in ms of a process and its children, including those that have ended and were waited for; 0
 * outside Linux.
 */
export function processorMs(pid: number): number {
  const all = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    if (stat) all.set(Number(name), stat)
  }
  const below = (parent: number): number =>
    [...all].reduce((sum, [child, stat]) => sum + (stat.parent === parent ? below(child) : 0), all.get(parent)?.ms ?? 0)
  return below(pid)
}

/** Reads `proc_pid_stat(5)`: fields 4 (parent) and 14 to 17 (user, system, and those of children). */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ms: ticks / ticksPerMs }
  } catch {
    return undefined // The process has exited.
  }
}
